/** The log is not read: traffic goes on, lines beyond the buffer are dropped and counted, the end comes as asked for. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readlinkSync } from 'node:fs'
import t, { type Test } from 'tap'
import { CONFIG, folderWith } from '../cli/command-line.ts'
import { startTrainingsService } from '../demo/trainings-service.ts'
import { inTime } from '../support/in-time.ts'
import { MAIN, SECRET } from '../support/gateway-process.ts'
import { RawClient } from '../support/raw-client.ts'
import { until } from '../support/until.ts'
import { metric } from '../support/operations.ts'

const PATH = `/docs/${'a'.repeat(7500)}`
/** Lines of them are more than a pipe and the gateway's buffer hold together. */
const REQUESTS = 2800
/** ms that the end of the gateway waits for the reader. */
const LAST_WAIT = 3000

/** Stops reading once the gateway listens. */
async function startUnread(t: Test) {
  const service = await startTrainingsService()
  t.teardown(() => service.close())
  const cwd = folderWith(t, {
    'gateway.config.yaml': CONFIG,
    'routes/main.yaml': 'upstream: trainings\nroutes: { GET /docs/*: public }\n',
  })
  const env = { ...process.env, ACME_SECRET: SECRET, TRAININGS_URL: service.url }
  const child = spawn(process.execPath, [MAIN, 'start'], { cwd, env, stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => child.kill('SIGKILL'))
  let out = ''
  child.stdout.on('data', (chunk) => (out += chunk))
  const listening = () =>
    [...out.matchAll(/listening on http:\/\/127\.0\.0\.1:(\d+)/g)].map(([, port]) => Number(port))
  await until(
    () => listening().length === 2,
    () => `not listening: ${out}`,
  )
  child.stdout.removeAllListeners('data').pause()
  const [port = 0, opsPort = 0] = listening()
  return { child, port, ops: `http://127.0.0.1:${opsPort}` }
}

/** How many of the requests were answered with 200. */
async function ask(port: number, requests: number): Promise<number> {
  const clients = 8
  const each = requests / clients
  const asking = Array.from({ length: clients }, async () => {
    const request = `GET ${PATH} HTTP/1.1\r\nHost: a\r\n`
    const last = `${request}Connection: close\r\n\r\n`
    const received = await new RawClient(port).send(`${request}\r\n`.repeat(each - 1) + last).ended
    return received.split('HTTP/1.1 200 ').length - 1
  })
  return (await Promise.all(asking)).reduce((sum, count) => sum + count)
}

function dropped(ops: string): Promise<number> {
  return metric({ ops }, 'seatgate_log_lines_dropped')
}

/** Not of a process that has ended. */
function hasStore(pid = 0): boolean {
  const folder = `/proc/${pid}/fd`
  const files = orElse(() => readdirSync(folder), [])
  return files.some((name) => orElse(() => readlinkSync(`${folder}/${name}`), '').endsWith('seatgate.db'))
}

/** For what may be gone meanwhile. */
function orElse<V>(read: () => V, other: V): V {
  try {
    return read()
  } catch {
    return other
  }
}

async function exit(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null) return child.exitCode
  return (await once(child, 'exit'))[0]
}

t.test('a pipe that is full', async (t) => {
  const { child, port, ops } = await startUnread(t)
  t.equal(await ask(port, REQUESTS), REQUESTS)
  t.ok((await dropped(ops)) > 0, 'the loss is counted')
  child.kill('SIGTERM')
  t.equal(await exit(child), 0)
})

t.test('a reader that lags, and goes on when the gateway ends, loses nothing', async (t) => {
  const isWhole = (log: string) =>
    log.endsWith('"msg":"ended"}\n') && log.split('"msg":"request"').length === 401
  const log = await inTime(LAST_WAIT, isWhole, async () => {
    const { child, port } = await startUnread(t)
    t.equal(await ask(port, 400), 400)
    // Of a process that has ended, Node.js reads the rest at once.
    let rest = ''
    child.stdout.on('data', (chunk) => (rest += chunk))
    const read = once(child.stdout, 'end')
    let busyAt = performance.now()
    child.kill('SIGTERM')
    // From then on it waits for nothing but the reader.
    await until(() => {
      const lookedAt = performance.now()
      if (!hasStore(child.pid)) return true
      busyAt = lookedAt
      return false
    }, 'the end of all but the log')
    child.stdout.resume()
    await read
    t.equal(await exit(child), 0)
    return { value: rest, took: performance.now() - busyAt }
  })
  const lines = log.trimEnd().split('\n')
  const messages = lines.map((line) => JSON.parse(line).msg)
  t.equal(messages.filter((message) => message === 'request').length, 400)
  t.equal(messages.at(-1), 'ended')
})

t.test('a reader that has gone', async (t) => {
  const { child, port, ops } = await startUnread(t)
  child.stdout.destroy()
  t.equal(await ask(port, 80), 80)
  t.ok((await dropped(ops)) > 0, 'the loss is counted')
  child.kill('SIGTERM')
  t.equal(await exit(child), 0)
})
