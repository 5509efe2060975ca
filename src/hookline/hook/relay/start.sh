#!/bin/sh
# hookline-relay where it was not compiled: starts client.py with the Python that the `hookline` beside it names.
# Names begin with hookline_relay_: a variable of the environment that has the same name would be changed for hooks.
hookline_relay_directory='@DIRECTORY@'
hookline_relay_self=$0
while [ -h "$hookline_relay_self" ]; do
	hookline_relay_target=$(command -p readlink "$hookline_relay_self") || break
	case $hookline_relay_target in
	/*) hookline_relay_self=$hookline_relay_target ;;
	*) hookline_relay_self=${hookline_relay_self%/*}/$hookline_relay_target ;;
	esac
done
case $hookline_relay_self in
*/*) hookline_relay_here=${hookline_relay_self%/*} ;;
*) hookline_relay_here=. ;;
esac

# Installers write `#!/path/python`, or if that is too long or has spaces, a line of shell: '''exec' '/path/python' "$0" "$@"
{
	IFS= read -r hookline_relay_first
	IFS= read -r hookline_relay_second
} 2>/dev/null <"$hookline_relay_here/hookline" || :
hookline_relay_python=
case $hookline_relay_first in
'#!/bin/sh')
	case $hookline_relay_second in
	"'''exec' "*' "$0" "$@"')
		hookline_relay_second=${hookline_relay_second#"'''exec' "}
		eval "hookline_relay_python=${hookline_relay_second%' "$0" "$@"'}"
		;;
	esac
	;;
'#!'*)
	hookline_relay_python=${hookline_relay_first#'#!'}
	hookline_relay_python=${hookline_relay_python# }
	hookline_relay_python=${hookline_relay_python%% *}
	;;
esac

# With these, Python would take the packages beside the program they name, in spite of -I.
unset PYTHONEXECUTABLE __PYVENV_LAUNCHER__
case ${hookline_relay_python##*/} in
python* | pypy*)
	[ -x "$hookline_relay_python" ] && exec "$hookline_relay_python" -I -S -X utf8 -c '
import sys
here, folder, *words = sys.argv[1:]
for place in filter(None, (folder, "%s/../lib/python%d.%d/site-packages" % (here, *sys.version_info[:2]))):
    sys.path.insert(0, place + "/hookline/hook/relay")
    try:
        from client import main
    except ImportError:
        continue
    main(here, "@VERSION@", words)
import posix
words = [sys.executable, "-I", here + "/hookline", *words[2 * (words[:1] == ["--daemon"]):]]
posix.execv(sys.executable, words)
' "$hookline_relay_here" "$hookline_relay_directory" "$@"
	hookline_relay_missing=$hookline_relay_python
	;;
*)
	[ "$1" = --daemon ] && shift && shift
	# It may start Python: a project's modules must not be loaded then.
	unset PYTHONPATH PYTHONHOME PYTHONUSERBASE PYTHONPYCACHEPREFIX PYTHONPLATLIBDIR PYTHONSTARTUP PYTHONINSPECT
	export PYTHONNOUSERSITE=1 PYTHONSAFEPATH=1
	[ -x "$hookline_relay_here/hookline" ] && exec "$hookline_relay_here/hookline" "$@"
	hookline_relay_missing=$hookline_relay_here/hookline
	;;
esac

# Nobody can answer. That blocks, except at an event that guards nothing.
hookline_relay_dialect='' hookline_relay_event=''
while [ $# -gt 0 ]; do
	case $1 in
	--dialect=*) hookline_relay_dialect=${1#*=} ;;
	--dialect) hookline_relay_dialect=$2 ;;
	-* | hook) ;;
	*) hookline_relay_event=$hookline_relay_event$1 ;;
	esac
	case $1 in
	--dialect | --daemon | --config | --home | --hooks | --scope) [ $# -gt 1 ] && shift ;;
	esac
	shift
done
hookline_relay_code=2 hookline_relay_then='so this was blocked'
case '
@OBSERVED@' in
*"
$hookline_relay_dialect $hookline_relay_event
"*) hookline_relay_code=1 hookline_relay_then='so no hook was asked' ;;
esac
echo "hookline-relay: $hookline_relay_missing is not there, $hookline_relay_then: install hookline again, or remove" \
	"its entries from the hooks of this agent" >&2
exit $hookline_relay_code
