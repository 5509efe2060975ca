"""What agents with hooks in the shape of Claude Code's have in common.

A dialect of this family subclasses these classes, fills in the tables, and overrides what its agent does differently:

| class | must define | often overridden |
|---|---|---|
| `settings.FileReader` | `entry_reader`, `read_matcher` | `check`, `unusable`, `event_hooks`, `group_fields` |
| `settings.EntryReader` | `dialect`, `common`, `kinds` | `details`, `why_broken`, `make_spec`, `rule` |
| `wire.ResultReader` | `encode`, `parse`, `answer`, `read_json`, `read_answer` | `exited`, `crashed`, `replied` |
| `answers.AnswerReader` | `fields` | `order`, `no_reason`, `unknown`, the methods that the tables name |
| `answers.AnswerWriter` | `can`, `decide` | `supply`, `finished` |

`encode`, `parse` and `answer` are what the dialect's wire needs besides decoding (see `dialect.ReversibleWire`).

An answer is the document that a hook gives back: `AnswerReader` reads one, `AnswerWriter` writes one for an agent that
called Hookline. `Outcome.answers` is something else: what a hook filled in for the user when an event asks a question.
"""
