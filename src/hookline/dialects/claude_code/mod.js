// Hookline asks your guards about each tool call. `hookline install claude-code --mod` wrote this file, and
// `hookline uninstall claude-code` removes it; changes are lost when it is installed again.

// The shell line that asks Hookline, and the file with the address of its daemon.
const CALL = ""
const ADDRESS = ""

let address
// True if a request to the daemon would go through a proxy, which would read every call.
let proxied
// The id of the session, until the next prompt: asking for it takes longer than most guards.
let session
// What was answered about calls that run now, by their id, and for which input.
const judged = new Map()

async function hasProxy($) {
  const found = [
    await $.env.get("HTTP_PROXY"), await $.env.get("http_proxy"), await $.env.get("HTTPS_PROXY"), await $.env.get("https_proxy"),
    await $.env.get("ALL_PROXY"), await $.env.get("all_proxy"),
  ]
  const direct = `${(await $.env.get("NO_PROXY")) ?? ""},${(await $.env.get("no_proxy")) ?? ""}`.split(/[\s,]+/)
  return found.some((proxy) => proxy) && !direct.some((host) => host === "*" || host === "127.0.0.1")
}

/** Ask the daemon. Returns undefined where none answers, so that a process has to. */
async function askDaemon($, payload) {
  try {
    proxied ??= await hasProxy($)
    if (proxied) return undefined
    address ??= JSON.parse(await $.fs.read(ADDRESS))
    const headers = { authorization: `Bearer ${address.token}` }
    const answer = await $.http.fetch(`${address.url}claude-code/PreToolUse`, { method: "POST", headers, body: payload })
    if (answer.status === 200 && answer.headers["hookline-proof"] === address.proof) return answer.text
  } catch {
    // There is no daemon, or another one by now.
  }
  address = undefined
  return undefined
}

/** Ask by a process, which also starts the daemon. Throws where Hookline cannot be run. */
async function askProcess($, payload) {
  const ran = await $.process.run(["/bin/sh", "-c", CALL], { stdin: payload, env: { HOOKLINE_HTTP: "1" } })
  if (ran.exitCode === 0) return ran.stdout
  if (ran.exitCode === 2) return JSON.stringify({ decision: "block", reason: ran.stderr.trim() })
  throw new Error(ran.stderr.trim() || `status ${ran.exitCode}`)
}

async function ask($, tool, input, id) {
  // The directory may be another one after each call.
  const cwd = await $.session.cwd()
  session ??= await $.session.id()
  const payload = JSON.stringify({
    hook_event_name: "PreToolUse", session_id: session, cwd, tool_name: tool, tool_input: input, tool_use_id: id,
  })
  const text = (await askDaemon($, payload)) ?? (await askDaemon($, payload)) ?? (await askProcess($, payload))
  const said = text.trim() ? JSON.parse(text) : {}
  const specific = said.hookSpecificOutput ?? {}
  const refused = said.continue === false || said.decision === "block" || specific.permissionDecision === "deny"
  const reason = specific.permissionDecisionReason || said.reason || said.stopReason || "blocked by a hook"
  return { decision: refused ? "deny" : specific.permissionDecision, reason, input: specific.updatedInput }
}

export function register(on) {
  on("tool.call", async ($, e, next) => {
    const { tool, tool_use_id, ...input } = e
    const answer = await ask($, tool, input, tool_use_id)
    judged.set(tool_use_id, { answer, input: JSON.stringify(answer.input ?? input) })
    try {
      return await next(answer.input === undefined ? e : { ...answer.input, tool, tool_use_id })
    } finally {
      judged.delete(tool_use_id)
    }
  })
  on("prompt.submit", async ($, e, next) => {
    session = undefined
    return next(e)
  })
  on("tool.check", async ($, e, next) => {
    // Another plugin may have changed the call since: then it is another call.
    const known = judged.get(e.tool_use_id)
    const same = known !== undefined && known.input === JSON.stringify(e.input)
    const answer = same ? known.answer : await ask($, e.tool, e.input, e.tool_use_id)
    if (answer.decision === "deny") return { decision: "deny", reason: answer.reason }
    if (!same && answer.input !== undefined && JSON.stringify(answer.input) !== JSON.stringify(e.input))
      return { decision: "deny", reason: "a hook rewrites this, and another plugin has changed it since" }
    const beneath = await next(e)
    const { decision, reason } = answer
    if (decision === "ask" && beneath.decision !== "deny") return { decision, reason }
    return decision === "allow" && beneath.decision === "ask" ? { decision, reason } : beneath
  }).catch(() => ({ decision: "deny", reason: "hookline could not be run, so this was blocked: see `hookline doctor`" }))
}
