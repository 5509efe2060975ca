"""List shell lines that change protected files in the project of `test_protected.py`, and lines that do not."""

WRITES = r"""
echo x > .hookline/hooks.toml
A=.hook; B=line; rm $A$B/hooks.toml
/bin/rm -rf .
echo x >> .hookline/hooks.toml
echo x >| .hookline/hooks.toml
echo x &> .hookline/hooks.toml
: > ./.hookline/hooks.toml
> .hookline/hooks.toml
cat evil.toml > .hookline/hooks.toml
printf x | tee .hookline/hooks.toml
printf x | tee -a notes.md .claude/settings.json
printf x | sudo tee .claude/settings.json
cp evil.toml .hookline/hooks.toml
cp evil.toml .hookline/
cp -t .hookline evil.toml
cp -r /tmp/x/.hookline .
cp /tmp/agent.yaml .
mv .hookline .hl
mv evil.toml .hookline/hooks.toml
mv .claude/settings.json /tmp/x
rm .hookline/hooks.toml
rm -rf .hookline
rm -rf .claude/agents
rm -f -- .mcp.json
rm agent.yaml
rm .HOOKLINE/Hooks.toml
rm src/../.hookline/hooks.toml
rm src/../../proj/.hookline/hooks.toml
rm link/hooks.toml
rm deeper/.hookline/hooks.toml
echo x > src/alias.toml
truncate -s 0 .hookline/hooks.toml
truncate --size=0 src/alias.toml
sed -i s/deny/allow/ .hookline/hooks.toml
sed -i.bak -e s/a/b/ .claude/settings.json
sed --in-place s/a/b/ link/hooks.toml
sed -n 'w .hookline/hooks.toml' notes.md
awk '{ print > ".hookline/hooks.toml" }' notes.md
perl -pi -e 's/a/b/' .claude/settings.json
dd if=/dev/null of=.hookline/hooks.toml
install -m 644 evil.toml .hookline/hooks.toml
ln -sf /tmp/x .hookline/hooks.toml
ln .hookline/hooks.toml other.toml
ln -s .hookline here && rm here/hooks.toml
chmod -x .hookline/guard.sh
chmod 000 .hookline
chattr -R +i .
chattr -i .hookline/hooks.toml
chcon -R -t etc_t .
setfacl -R -m u:a:r .
touch .claude/settings.local.json
mkdir -p .claude/skills/mine
git checkout -- .hookline/hooks.toml
git checkout HEAD~1 -- .hookline
git checkout .
git restore .hookline/hooks.toml
git -C .hookline checkout hooks.toml
git rm -r .hookline
git mv .hookline/hooks.toml x
git clean -fdx
git stash push .claude/settings.json
cd .hookline && rm hooks.toml
cd .hookline; echo x > hooks.toml
(cd .hookline && truncate -s 0 hooks.toml)
cd src && cd ../.hookline && rm guard.sh
cd src && rm ../.hookline/hooks.toml
pushd .claude && tee settings.json < /dev/null
cd link && rm hooks.toml
rm .hook*
rm -rf .[h]*
rm .hookline/*
rm -rf .hook{line,ed}
rm *.yaml
rm -rf .
rm -rf "$PWD/.hookline"
rm -rf ..
rm "$HOME/.claude/settings.json"
rm ~/.claude/settings.json
echo '{}' > ~/.config/hookline/hooks.toml
rm -rf ~/.config/hookline
rm -rf ~/.config
rm ~/.config/cagent/config.yaml
echo '{}' > ~/own/settings.json
rm -rf ~/rx/settings.json
sed -i s/trusted_hash/x/ ~/.codex/config.toml
echo '{}' > ~/cx/hooks.json
rm -rf ~/.local/state/hookline/trust
find . -name hooks.toml -delete
find . -name '*.toml' -delete
find . -type f -delete
find .hookline -type f -exec rm {} +
find . -name guard.sh -exec chmod -x {} \;
find . -path './.claude/*' -delete
find . -name hooks.toml | xargs rm
find . -name '*.json' -print0 | xargs -0 sed -i s/a/b/
ls .hookline | while read f; do rm ".hookline/$f"; done
for f in .hookline/*; do rm $f; done
F=.hookline/hooks.toml; rm $F
D=.hook; rm ${D}line/hooks.toml .hookline
rm $(ls -d .hook*)
bash -c 'rm .hookline/hooks.toml'
bash -c "$X .hookline/hooks.toml"
sh -c 'cd .hookline && rm hooks.toml'
eval rm .hookline/hooks.toml
env A=1 rm .hookline/hooks.toml
sudo -u root rm .hookline/hooks.toml
timeout 5 rm .hookline/hooks.toml
nohup rm .hookline/hooks.toml &
xargs rm .hookline/hooks.toml
rm .hook''line/hooks.toml
rm .h\ookline/hooks.toml
rm $'.hook\x6cine/hooks.toml'
python3 -c "open('.hookline/hooks.toml','w')"
node -e "require('fs').writeFileSync('.claude/settings.json','{}')"
python3 fix.py .claude/settings.json
prettier --write .claude/settings.json
vim .hookline/hooks.toml
curl -o .hookline/hooks.toml http://127.0.0.1/x
curl -s http://127.0.0.1/x --output=.claude/settings.json
curl -o.claude/settings.json http://127.0.0.1/x
cp -t.claude evil.toml
sort -osrc/alias.toml evil.toml
git -C .claude checkout settings.json
wget -O .mcp.json http://127.0.0.1/x
sort -o .hookline/hooks.toml evil.toml
tar xf evil.tar .claude
tar -C .claude -xf evil.tar settings.json
unzip -d .claude evil.zip
rsync -a evil/ .claude/
yq -i .a=1 .claude/settings.json
patch .hookline/hooks.toml < x.diff
cat() { rm "$@"; }; cat .hookline/hooks.toml
rm $PWD/link/hooks.toml
rm "$PWD"/agent.yaml
rm ~+/agent.yaml
rm ${D:-.hookline}/hooks.toml
ls link/hooks.toml | xargs rm
F=link/hooks.toml; rm $F
bash -c 'A=(agent.yaml); rm ${A[0]}'
eval 'for f in ~/.claude/settings.json; do rm $f; done'
env A=1 rm "$HOME/own/settings.json"
find $HOME/own/settings.json -delete
find .hook*/hooks.toml -delete
echo y >> sr[c]/alias.toml
echo y | tee -a src/ali*
dd if=evil.toml of=.hookline/hook?.toml
awk 'BEGIN{printf "" > "src/alias.toml"}'
git diff --no-index --output=.hookline/hook?.toml notes.md evil.toml
alias cat=rm; cat .hookline/hooks.toml; rm $X
set -- .hookline/hooks.toml; rm "$@"
export F=.hookline/hooks.toml; rm $F
printf -v F .hookline/hooks.toml; rm $F
cd .hookline; rm $F
cp -r evil/.* .
script .claude/settings.json
socat - OPEN:.claude/settings.json,creat
vim -c 'w! .claude/settings.json' notes.md
sqlite3 db ".output .claude/settings.json"
tree -o .claude/settings.json
pytest --junitxml=.claude/settings.json
ruff check --fix .claude
prettier --write .claude
git restore --staged --worktree .
git archive -o .claude/x.tar HEAD
hookline trust --list --yes
rm -rf /
true && false || rm .hookline/hooks.toml
if true; then rm .hookline/hooks.toml; fi
f() { rm .hookline/hooks.toml; }; f
cat notes.md | tee >(cat > .hookline/hooks.toml)
hookline trust
yes | hookline trust
python -m hookline trust
hookline guard add force-push
python3 -P -m hookline trust
hookline-relay trust --yes
hookline-relay --daemon /tmp/x install --yes
hookline --color never trust
H=hookline; $H trust
H=hookline; $H uninstall
hookline uninstall
hookline uninstall claude-code --yes
pip uninstall -y hookline
pip3.11 uninstall hookline
sudo pip uninstall 'hookline[tui]' -y
python3 -m pip uninstall -y hookline
pipx uninstall hookline
python -m pipx uninstall hookline
python3 -m uv tool uninstall hookline
python3 -mpoetry remove hookline
pipenv uninstall hookline
brew rm hookline
uv tool uninstall hookline
uv pip uninstall hookline
poetry remove hookline
cd x && conda remove -y hookline
hookline "$ACTION" --yes
hookline some-later-command
hookline guard off "no force push"
hookline guard pause force-push --for 10m
script -qec 'hookline guard pause force-push' /dev/null
hookline jobs drop 5f2a
hookline convert .claude/settings.json --to codex --write
hookline convert .claude/settings.json --to codex --wri
echo '{"hook_event_name": "SessionStart"}' | hookline hook --dialect claude-code
cp -r other/. .
cp -aT other .
rsync -a other/ .
rsync -a --delete-after empty .
rsync -a --del empty .
rm -rf $PWD
rm -rf "${PWD}"
rm -rf ~
wget -P .claude http://localhost/settings.json
cd $(echo .claude) && cp /tmp/x settings.json
hookline agent --no-hooks -p x --mode bypass
hookline agent --trust -p x
hookline fire --trust PreToolUse
hookline daemon stop
python3 -m hookline agent --no-hooks
HOME=/tmp/x claude -p x
HOOKLINE_HOOK_DEPTH=9 claude -p x
env CODEX_HOME=/tmp/x codex exec x
export HOME=/tmp/x; npx gemini -p x
env -u CLAUDE_CONFIG_DIR claude -p x
HOME=/tmp/x hookline agent -p x
fd -H settings.json . -X rm
fd -uHx rm
fd --hidden -e json -x sed -i s/a/b/
fd . .claude -x rm {}
fd agent.yaml --exec rm {}
fdfind -H '^settings' | xargs rm
bfs . -name settings.json -exec rm {} +
bfs . -name settings.json -delete
chgrp nobody .
black . && rm -rf .
env --chdir=.claude cp /tmp/x settings.json
env -C.claude cp /tmp/x settings.json
make --directory=.hookline clean
uv --directory .claude run rm settings.json
pnpm --dir .claude exec rm settings.json
npm --prefix .claude exec rm settings.json
parallel --workdir .claude rm ::: settings.json
sudo -D .claude rm settings.json
systemd-run --user -p WorkingDirectory=.claude rm settings.json
nsenter --wdns=.claude rm settings.json
start-stop-daemon --start --chdir .claude --exec /bin/rm -- settings.json
just --working-directory .hookline -f x clean
bwrap --chdir .claude rm settings.json
CDPATH=.claude; cd agents; rm ../settings.json
""".strip().split("\n")

HERE_DOCUMENTS = [
    "cat > .hookline/hooks.toml <<'EOF'\nx\nEOF",
    "cat <<EOF > .claude/settings.json\n{}\nEOF",
    "tee .hookline/hooks.toml <<EOF\nx\nEOF",
    "python3 - <<'EOF'\nopen('.hookline/hooks.toml', 'w').write('')\nEOF",
    "python3 - <<'EOF'\nopen('src/alias.toml', 'w')\nEOF",
    "git apply <<'EOF'\n--- a/.hookline/hooks.toml\n+++ b/.hookline/hooks.toml\nEOF",
    "bash <<EOF\nrm .hookline/hooks.toml\nEOF",
]

READS = r"""
hookline hook --print-config claude-code
hookline list --dialect claude-code
cp -r src/. build
rsync -a src/ build/
rm -rf "$PWD/build"
cd $(git rev-parse --show-toplevel) && rm -rf build
black . && rm -rf build
ruff check --fix . && git restore src
cat .hookline/hooks.toml
cat .claude/settings.json | jq .
cat < .hookline/hooks.toml
head -5 .hookline/hooks.toml
tail -n 3 link/hooks.toml
grep -rn deny .hookline
grep deny .hookline/hooks.toml > out.txt
rg deny .claude
ls -la .hookline .claude
ls .claude/*
wc -l .hookline/*.toml
diff .hookline/hooks.toml evil.toml
git diff .hookline/hooks.toml
git log --oneline -- .claude
git show HEAD:.hookline/hooks.toml
git status .hookline
git add .hookline && git commit -m 'change .claude/settings.json'
git blame .claude/settings.json
git checkout main
git checkout -b feature
git restore --staged .
git rm --cached .claude/settings.json
git reset HEAD .claude/settings.json
ruff check .claude
prettier --check .claude/settings.json
tree .claude
less .claude/settings.json
cp .claude/* /tmp/backup/
cat .claude/settings.json; F=$1; rm $F
cat link/hooks.toml; rm $X
git diff $(git merge-base HEAD main) -- .claude
rm src/deep/* build/*.txt
echo $HOME/.claude $PWD/.hookline
rm "$PWD/build/out.txt" "$HOME/x"
git clean -n
git stash
stat .hookline/hooks.toml
file .claude/settings.json
sha256sum .hookline/guard.sh
jq .hooks .claude/settings.json
sed -n 1,5p .claude/settings.json
sed 's/a/b/' .claude/settings.json
awk '/deny/ {print $1}' .hookline/hooks.toml
find .hookline -type f
find . -name hooks.toml
find . -name '*.pyc' -delete
find . -name node_modules -exec rm -rf {} +
find . -name '*.py' | xargs grep foo
fd settings.json -x rm
fd -H settings.json -x cat
fd -H '\.pyc$' -X rm
fd -e py -x sed -i s/a/b/
fd -H settings.json
bfs . -name '*.pyc' -delete
bfs . -name settings.json
find src -type f -delete
find . -name hooks.toml -exec cat {} \;
test -f .hookline/hooks.toml && echo there
[ -d .claude ] && ls
[[ -f .mcp.json ]] && echo yes
echo .hookline/hooks.toml
echo "see .claude/settings.json" >> notes.md
printf '%s\n' .hookline
cp .hookline/hooks.toml /tmp/copy.toml
cp -r .claude /tmp/backup
cp .claude/settings.json build/
rsync -a .claude/ /tmp/backup/
tar czf backup.tgz .claude
zip -r out.zip .claude
dd if=.hookline/hooks.toml of=/tmp/x
sort .hookline/hooks.toml
uniq .hookline/hooks.toml
bash .hookline/guard.sh
.hookline/guard.sh
sh .hookline/guard.sh < payload.json
python3 .claude/hooks/guard.py
python3 -m json.tool .claude/settings.json
pytest .claude/hooks
shellcheck .hookline/guard.sh
cd .hookline && cat hooks.toml
cd .hookline && ls && cd ..
(cd .claude && ls)
rm -rf build
rm -rf src/deep
rm -rf build/* dist
rm src/a.py harmless/x
pip install hookline
pip uninstall -y requests
python3 -m pip install hookline
poetry remove requests
uv tool list | grep hookline
rm *.md
rm -rf /tmp/x
rm -f "$TMP/x"
rm -rf "$BUILD" && cat .claude/settings.json
rm .gitignore hookline.txt claude/x .clauderc
mv notes.md src/
cp evil.toml src/hooks.toml
echo x > hooks.toml
echo x > src/settings.json
echo x > sub/other.yaml
touch src/agent.yaml.bak
sed -i s/a/b/ src/a.py
for f in src/*.py; do sed -i s/a/b/ $f; done
npm install && npm test
make build > log.txt 2>&1
make -C web build && rm src/a.py
env -C build make && cat .hookline/hooks.toml
git -C .hookline log
cd src && cd - && rm build/out.txt
python3 -c 'print(1)'
node build.js > out.js
git push origin main
git commit -am 'x' && git push
docker run --rm img ls
sudo cat .claude/settings.json
timeout 5 grep x .hookline/hooks.toml
env A=1 cat .hookline/hooks.toml
xargs cat < .hookline/hooks.toml
cat .claude/settings.json | python3 -c 'import json,sys; print(json.load(sys.stdin))'
rm -rf .claude/worktrees/old
touch ~/.claude/plans/plan.md
echo x > .claude/worktrees/one/src/a.py
hookline doctor
HOME=/tmp/x hookline doctor
HOOKLINE_MODEL=demo hookline agent -p x
claude -p 'what is in $HOME'
HOME=/tmp/x python3 -m pytest
hookline daemon status
hookline fire PreToolUse Bash
hookline list
hookline trust --list
hookline guard list
hookline guard test 'git push --force'
hookline jobs
hookline jobs show 5f2a
hookline convert old-settings.json --to codex --report
hookline log --since 2h
curl -s http://127.0.0.1/x -o out.json
mkdir -p .github/workflows
tar xf archive.tar -C build
""".strip().split("\n")

READING_HERE_DOCUMENTS = [
    "cat > notes.md <<'EOF'\nedit .hookline/hooks.toml yourself\nEOF",
    "git commit -F - <<EOF\nabout .claude/settings.json\nEOF",
    "cat <<EOF\n.hookline/hooks.toml\nEOF",
]
