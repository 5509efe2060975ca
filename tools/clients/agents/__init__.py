"""The clients, one module each. A new one is a module and a word here."""

from tools.clients.agents.claude_code import CLAUDE_CODE
from tools.clients.agents.codex import CODEX
from tools.clients.agents.copilot_cli import COPILOT_CLI
from tools.clients.agents.gemini_cli import GEMINI_CLI
from tools.clients.agents.grok import GROK
from tools.clients.agents.kilo import KILO
from tools.clients.agents.kimi_code import KIMI_CODE
from tools.clients.agents.opencode import OPENCODE
from tools.clients.agents.qwen_code import QWEN_CODE

CLIENTS = (CLAUDE_CODE, CODEX, GEMINI_CLI, COPILOT_CLI, QWEN_CODE, KIMI_CODE, GROK, OPENCODE, KILO)
