/** The log is not read: traffic goes on, lines beyond the buffer are dropped and counted, the end comes as asked for. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readlinkSync } from 'node:fs'
import t, { type Test } from 'tap'
import { CONFIG, folderWith } from '../cli/command-line.ts'
import { startTrainingsService } from '../demo/trainings-service.ts'
import { MAIN, SECRET } from '../support/gateway-process.ts'
import { RawClient } from '../support/raw-client.ts'
import { until } from '../support/until.ts'
import { metric } from '../support/operations.ts'

const PATH = `/docs/${'a'.repeat(7500)}`
/** Lines of them are more than a pipe and the gateway's buffer hold together. */
const REQUESTS = 2800

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

function hasStore(pid = 0): boolean {
  const files = readdirSync(`/proc/${pid}/fd`).map((name) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${name}`)
    } catch {
      return 'closed meanwhile'
    }
  })
  return files.some((file) => file.endsWith('seatgate.db'))
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
  const { child, port } = await startUnread(t)
  t.equal(await ask(port, 400), 400)
  child.kill('SIGTERM')
  // From then on it waits for nothing but the reader.
  await until(() => !hasStore(child.pid), 'the end of all but the log')
  let rest = ''
  child.stdout.on('data', (chunk) => (rest += chunk))
  child.stdout.resume()
  await once(child.stdout, 'end')
  t.equal(await exit(child), 0)
  const lines = rest.trimEnd().split('\n')
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
