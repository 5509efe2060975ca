"""Share code between agents whose hooks have the shape of Claude Code's.

A dialect of this family subclasses these classes, fills in the tables, and overrides what its agent does
differently:

| class | must define | often overridden |
|---|---|---|
| `settings.FileReader` | `entry_reader`, `read_matcher` | `check`, `unusable`, `event_hooks`, `group_fields`
| | `settings.EntryReader` | `dialect`, `common`, `kinds` | `details`, `why_broken`, `make_spec`, `rule` | |
`wire.ResultReader` | `encode`, `parse`, `answer`, `read_json`, `read_answer` | `exited`, `crashed`, `replied`
| | `answers.AnswerReader` | `fields` | `order`, `no_reason`, `unknown`, the methods that the tables name | |
`answers.AnswerWriter` | `can`, `decide` | `supply`, `finished` |

The dialect's wire needs `encode`, `parse` and `answer` besides decoding (see `dialect.ReversibleWire`).

An answer is the document that a hook returns: `AnswerReader` reads one, `AnswerWriter` writes one for an
agent that called Hookline. `Outcome.answers` is something else: values that a hook fills in for the user when
an event asks a question.
"""
