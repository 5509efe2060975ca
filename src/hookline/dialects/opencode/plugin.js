// Hookline asks your guards about each tool call. `hookline install` wrote this file, and `hookline uninstall`
// removes it; changes are lost when it is installed again.
import { spawn } from "node:child_process"
import { readFileSync } from "node:fs"
import { connect } from "node:net"
import { userInfo } from "node:os"

// The shell line that asks Hookline at each event, its name of this agent, and the file with the address of its daemon.
const CALLS = {}
const AGENT = "opencode"
const HOME = userInfo().homedir
const ADDRESS = `${HOME}/.local/state/hookline/daemon-http.json`
const SECONDS = 600

// The daemon's address until it no longer answers there, and connections to it that no call uses.
let known
const unused = new Set()

/** Ask the daemon. Returns undefined where none answers, so that a process has to. */
async function askDaemon(event, payload) {
  let said = known && (await send(known, event, payload))
  if (said !== undefined) return said
  for (const connection of unused) connection.end()
  try {
    known = JSON.parse(readFileSync(ADDRESS, "utf8"))
    said = await send(known, event, payload)
  } catch {
    // There is no daemon.
  }
  if (said === undefined) known = undefined
  return said
}

/** Send one request; returns undefined where the daemon did not answer it. */
async function send(address, event, payload) {
  const { hostname, port, host, pathname } = new URL(address.url)
  const head = [
    `POST ${pathname}${AGENT}/${event} HTTP/1.1`, `Host: ${host}`, `Authorization: Bearer ${address.token}`,
    `Content-Length: ${Buffer.byteLength(payload)}`, "", "",
  ]
  const connection = unused.values().next().value ?? new Connection(Number(port), hostname)
  const answer = await connection.ask(head.join("\r\n") + payload)
  return answer?.head.includes(`\r\nHookline-Proof: ${address.proof}\r\n`) && answer.head.startsWith("HTTP/1.1 200 ")
    ? answer.body
    : undefined
}

/** A connection for one request at a time, by hand: requests of OpenCode's runtime go through the user's proxy. */
class Connection {
  constructor(port, hostname) {
    this.socket = connect(port, hostname).setNoDelay(true)
    this.socket.setTimeout(SECONDS * 1000)
    for (const over of ["error", "end", "close", "timeout"]) this.socket.on(over, () => this.end())
    this.socket.on("data", (part) => this.read(part))
  }

  ask(request) {
    unused.delete(this)
    this.received = Buffer.alloc(0)
    this.socket.ref()
    this.socket.write(request)
    return new Promise((resolve) => (this.answered = resolve))
  }

  read(part) {
    this.received = Buffer.concat([this.received, part])
    const end = this.received.indexOf("\r\n\r\n")
    if (end < 0) return
    const head = this.received.toString("latin1", 0, end + 2)
    const body = this.received.subarray(end + 4)
    if (body.length < Number(/\r\nContent-Length: (\d+)\r\n/.exec(head)?.[1])) return
    this.socket.unref()
    unused.add(this)
    this.answered({ head, body: body.toString() })
  }

  end() {
    unused.delete(this)
    this.socket.destroy()
    this.answered?.(undefined)
  }
}

/** Ask by a process, which also starts the daemon. Rejects where Hookline cannot be run. */
function askProcess(event, payload, cwd) {
  return new Promise((resolve, reject) => {
    const env = { ...process.env, HOOKLINE_HTTP: "1" }
    const child = spawn("/bin/sh", ["-c", CALLS[event]], { cwd, env, stdio: ["pipe", "pipe", "pipe"] })
    const limit = setTimeout(() => child.kill("SIGKILL"), SECONDS * 1000)
    let said = ""
    let reason = ""
    child.stdout.on("data", (part) => (said += part))
    child.stderr.on("data", (part) => (reason += part))
    child.stdin.on("error", () => {})
    child.on("error", reject)
    child.on("close", (code) => {
      clearTimeout(limit)
      if (code === 0) resolve(said)
      else reject(new Error(`hookline could not be run, so this was blocked: ${reason.trim() || `status ${code}`}`))
    })
    child.stdin.end(payload)
  })
}

async function ask(event, facts) {
  const payload = JSON.stringify({ hook_event_name: event, ...facts })
  const said = (await askDaemon(event, payload)) ?? (await askProcess(event, payload, facts.cwd))
  return said.trim() ? JSON.parse(said) : {}
}

function refuse(answer) {
  if (answer.decision === "deny") throw new Error(answer.reason)
}

const text = (parts) => parts.filter((part) => part.type === "text" && !part.synthetic).map((part) => part.text).join("\n")

export const Hookline = async ({ client, directory }) => {
  const call = (input, args) => ({
    session_id: input.sessionID, cwd: directory, tool_name: input.tool, tool_use_id: input.callID, tool_input: args,
  })
  // What may fail without stopping anything is said in OpenCode's log.
  const observe = async (event, facts) => {
    try {
      return await ask(event, facts)
    } catch (problem) {
      await client?.app?.log?.({ body: { service: "hookline", level: "error", message: `${event}: ${problem.message}` } })
      return {}
    }
  }
  // OpenCode says nothing of why a prompt was refused.
  const show = async (message) => {
    if (process.argv.includes("run")) console.error(`hookline: ${message}`)
    else await client?.tui?.showToast?.({ body: { message: `hookline: ${message}`, variant: "error" } })
  }
  const hooks = {
    "tool.execute.before": async (input, output) => {
      const answer = await ask("tool.execute.before", call(input, output.args))
      refuse(answer)
      if (answer.args === undefined) return
      for (const key of Object.keys(output.args)) delete output.args[key]
      Object.assign(output.args, answer.args)
    },
    "tool.execute.after": async (input, output) => {
      const facts = { ...call(input, input.args), tool_response: output.output }
      const answer = await observe("tool.execute.after", facts)
      refuse(answer)
      if (answer.output !== undefined) output.output = answer.output
      if (answer.context !== undefined) output.output = `${output.output}\n${answer.context}`
    },
    "chat.message": async (input, output) => {
      try {
        refuse(await ask("chat.message", { session_id: input.sessionID, cwd: directory, prompt: text(output.parts) }))
      } catch (problem) {
        await show(problem.message)
        throw problem
      }
    },
  }
  const chosen = Object.fromEntries(Object.entries(hooks).filter(([event]) => event in CALLS))
  const watched = ["session.created", "session.idle"].filter((event) => event in CALLS)
  if (watched.length > 0)
    chosen.event = async ({ event }) => {
      if (!watched.includes(event.type)) return
      const session_id = event.properties?.sessionID ?? event.properties?.info?.id
      await observe(event.type, { session_id, cwd: directory })
    }
  return chosen
}
