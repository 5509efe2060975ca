"""Test lines of PowerShell: which commands they name, what is in doubt, and how rules treat it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookline.matching.tool_rules import judge
from hookline.model.hook import Doubt
from hookline.shell.powershell import MOST_STEPS, read_powershell
from tests.engine.translating_hooks import NO, Host, hook
from tests.every import every
from tests.matching.rules_on_calls import allows, fires, rule

NAMED = [
    ("Remove-Item -Recurse x", "remove-item"),
    ("rm x; del y | iwr z", "rm del iwr"),
    ("ls\nrm x", "ls rm"),
    ("dotnet build && dotnet test || rm x", "dotnet dotnet rm"),
    ("rm x & ls", "rm ls"),
    ("if (Test-Path a) { Remove-Item a } else { ls }", "test-path remove-item ls"),
    ("foreach ($f in ls) { cat $f }", "ls cat"),
    ("for ($i=0; $i -lt 5; $i++) { echo $i }", "echo"),
    ("try { a } catch [Exception] { b } finally { c }", "a b c"),
    ("switch ($x) { a { rm x } default { ls } }", "a rm ls"),
    ("function f { rm x }; f", "rm f"),
    ("return rm x", "rm"),
    ("1..5 | foreach { rm $_ }", "foreach rm"),
    ("ls |% {rm $_}", "ls % rm"),
    ("gci | ? { $_.Length -gt 5 }", "gci ?"),
    ("$x = rm y", "rm"),
    ("$a[(rm x)] = del y", "rm del"),
    ("@{a = rm x; b = 2}", "rm"),
    ("$(rm x)", "rm"),
    ("!(rm x)", "rm"),
    ("[void](rm x)", "rm"),
    ("&{rm x}", "rm"),
    (".{rm x}", "rm"),
    ("& 'rm' x", "rm"),
    ('& "C:\\tools\\rm.exe" x', "rm"),
    (". .\\x.ps1", "x"),
    ("C:\\Windows\\rm.exe x", "rm"),
    ("/bin/rm x", "rm"),
    ("Microsoft.PowerShell.Management\\Remove-Item x", "remove-item"),
    ('"$(rm x)"', "rm"),
    ('"a $b $($c.Count) `" ""x"" $(if ($d) {"y"})"; del z', "del"),
    ("'it''s'; rm x", "rm"),
    ("@'\nrm a\n'@; ls", "ls"),
    ("echo hi # ; rm x", "echo"),
    ("ls <# ; rm x #> -l", "ls"),
    ("ls `\n  -l; rm x", "ls rm"),
    ("7z x a.zip", "7z"),
    ("python x.py", "python"),
    ("$a.ToString(); 'a,b'.Split(','); -join (1,2)", ""),
    ("Get-Process 2>&1 > out.txt", "get-process"),
]


@every(("line", "names"), NAMED)
def test_each_command_is_named_and_nothing_is_in_doubt(line: str, names: str):
    reading = read_powershell(line)
    assert ([each.base_name for each in reading.commands], reading.doubts) == (names.split(), ())


@every(
    ("line", "phrase"),
    [
        ("& $x y", "what `& $x y` runs is known only to PowerShell"),
        (". $x", "what `& $x` runs"),
        ("&(gcm rm) x", "what `& (gcm rm)` runs"),
        ("& 'r''m' x", "what `& 'r''m' x` runs"),
        ("iex 'rm x'", "what `iex` runs cannot be determined from its name"),
        ("gc x | Invoke-Expression", "what `Invoke-Expression` runs"),
        ("powershell -EncodedCommand cgBtAA==", "what `powershell` runs"),
        ("cmd /c del x", "what `cmd` runs"),
        ("gc a | python", "what `python` runs"),
        ("python -c 'x'", "what `python` runs"),
        ("ls | % Delete", "what `%` runs"),
        ("Invoke-Command -ScriptBlock $x", "what `Invoke-Command` runs"),
        ("Set-Alias ls rm; ls x", "what `Set-Alias` runs"),
        ("Set-Item alias:ls rm", "what `Set-Item` runs"),
        ("${alias:ls} = 'rm'", "names of commands are changed"),
        ("[IO.File]::Delete('x')", "what the method `Delete(…)` does"),
        ("$x.Invoke()", "what the method `Invoke(…)` does"),
        ("$x.\nDelete()", "what the method `Delete(…)` does"),
        ("[scriptblock]::Create('rm x')", "what the method `Create(…)` does"),
        ("$f = [scriptblock]'rm x'", "a text is made into a script block"),
        ("r`m x", "`r`m` is not plainly a name"),
        ("`rm x", "written with a backtick"),
        ("r''m x", "`r''m` is not plainly a name"),
        ('x"y" z', '`x"y"` is not plainly a name'),
        ("echo x#; rm y", "unclear if a # begins a comment"),
        ("\u2018rm\u2019 x", "the character U+2018"),
        ("r\u200bm x", "the character U+200B"),
        ("rm\0 x", "the character U+0000"),
        ('"unclosed', 'a " is never closed'),
        ("'unclosed", "a quote is never closed"),
        ("@'\nunclosed", "a text is never closed"),
        ("<# unclosed", "a comment is never closed"),
        ("(rm x", "a ( is never closed"),
        ("rm x }", "a } closes nothing"),
        ('@"\n$(rm x)\n"@', "a text in double quotes runs commands"),
        ("a " * MOST_STEPS, "too many commands, words and signs"),
        ("a" * 70_000, "the line is longer than"),
    ],
)
def test_what_is_not_plainly_a_name_is_in_doubt(line: str, phrase: str):
    reading = read_powershell(line)
    assert any(phrase in doubt for doubt in reading.doubts), reading.doubts
    assert not reading.literal


@given(st.lists(st.sampled_from([*"(){}'\"`$@#&|;.=<>\n ", "rm", "$(", '@"\n', "if", "iex"]), max_size=20))
def test_any_line_is_read_and_none_in_doubt_is_permitted(pieces: list[str]):
    reading = read_powershell("".join(pieces))
    assert not (reading.literal and reading.doubts)


@pytest.mark.parametrize(
    ("text", "line", "expected"),
    [
        ("PowerShell(Remove-Item *)", "rm x", True),
        ("PowerShell(rm *)", "Remove-Item x", True),
        ("PowerShell(ri *)", "REMOVE-ITEM x", True),
        ("PowerShell(curl *)", "Invoke-WebRequest x", True),
        ("PowerShell(Get-Content *)", "content x", True),
        ("PowerShell(Remove-Item *)", "ls", False),
        ("PowerShell(Remove-Item *)", "& $x", "what `& $x` runs is known only to PowerShell; "),
        ("PowerShell(Remove-Item -Recurse *)", "rm x", "`rm x` may be Remove-Item -Recurse *; "),
    ],
)
def test_rules_are_about_names_and_say_so(text: str, line: str, expected: bool | str):
    answer = judge(rule(text), "PowerShell", {"command": line}, "/proj")
    note = "PowerShell is judged by command name only"
    assert answer == (Doubt(expected + note) if isinstance(expected, str) else expected)
    if isinstance(answer, bool):
        argument = rule(text).argument
        assert argument is not None
        assert note in argument.why({"command": line}, "/proj", answer)


@every(
    ("text", "line", "expected"),
    [
        ("PowerShell(Get-ChildItem *)", "Get-ChildItem src", True),
        ("PowerShell(ls *)", "ls src", True),
        ("PowerShell(npm test)", "npm test", True),
        ("PowerShell(git *)", "git -c x status", False),
        ("PowerShell(Get-ChildItem *)", "Get-ChildItem $x", False),
        ("PowerShell(Get-ChildItem *)", "Get-ChildItem (rm x)", False),
        ("PowerShell(Get-ChildItem *)", "Get-ChildItem; rm x", False),
        ("PowerShell(Get-ChildItem *)", "Get-ChildItem > x", False),
        ("PowerShell(Invoke-WebRequest *)", "Invoke-WebRequest https://a.b -OutFile x", False),
        ("PowerShell(Start-Process *)", "Start-Process rm", False),
    ],
)
def test_a_permission_is_for_plain_commands(text: str, line: str, expected: bool):
    assert allows(text, "PowerShell", command=line) is expected
    assert not expected or fires(text, "PowerShell", command=line)


@pytest.mark.parametrize(
    ("caller", "tool"), [("claude-code", "PowerShell"), ("reasonix", "pwsh"), ("", "powershell")]
)
def test_a_guard_about_bash_reads_powershell_as_powershell(caller: str, tool: str):
    host = Host(hook("native", NO, "Bash(rm *)"), caller=caller)
    assert host.call(tool, command="ls; Remove-Item x").reason == "not here"
    assert "known only to PowerShell" in (host.call(tool, command="& $x").reason or "")
    assert host.call(tool, command="$x = 'rm'").permission is None


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("pwsh -NoProfile -Command 'ls; Remove-Item x'", True),
        ("pwsh -c 'Get-ChildItem'", False),
        ("echo 'ri x' | pwsh", True),
        ("pwsh -c '& $x'", "what `& $x` runs is known only to PowerShell"),
        ('pwsh -c "Get-Item $X"', "a part of a line of PowerShell is known only to the shell"),
        ("powershell -EncodedCommand cgBtAA==", "judged by names only"),
        ("pwsh -enc cgBtAA==", "judged by names only"),
    ],
)
def test_powershell_inside_a_line_of_shell_is_judged_by_name(line: str, expected: bool | str):
    answer = judge(rule("Bash(rm *)"), "Bash", {"command": line}, "/proj")
    if isinstance(expected, str):
        assert isinstance(answer, Doubt)
        assert expected in answer.text
    else:
        assert answer == expected
