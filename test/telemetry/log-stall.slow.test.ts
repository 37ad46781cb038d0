/** Nobody reads the log: traffic goes on, lines beyond the buffer are dropped and counted, the end comes as asked for. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { CONFIG, folderWith, MAIN, SECRET } from '../cli/command-line.ts'
import { startTrainingsService } from '../demo/trainings-service.ts'

const PATH = `/docs/${'a'.repeat(7500)}`
/** Lines of them are more than a pipe and the gateway's buffer hold together. */
const REQUESTS = 2800

/** Stops reading once the gateway listens. */
async function startUnread(t: Test, program: string, args: string[]) {
  const service = await startTrainingsService()
  t.teardown(() => service.close())
  const cwd = folderWith(t, {
    'gateway.config.yaml': CONFIG,
    'routes/main.yaml': 'upstream: trainings\nroutes: { GET /docs/*: public }\n',
  })
  const env = { ...process.env, ACME_SECRET: SECRET, TRAININGS_URL: service.url }
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => child.kill('SIGKILL'))
  let out = ''
  child.stdout.setEncoding('utf8')
  while ([...out.matchAll(/listening on/g)].length < 2) {
    await once(child.stdout, 'readable')
    out += child.stdout.read() ?? ''
  }
  const [front = '', ops = ''] = [...out.matchAll(/listening on (http:\/\/[^ ]+)/g)].map((each) => each[1])
  return { child, front, ops }
}

/** How many of the requests were answered with 200. */
async function ask(front: string, requests: number): Promise<number> {
  let served = 0
  const client = async () => {
    for (let i = 0; i < requests / 8; i++) {
      const answer = await fetch(front + PATH)
      await answer.text()
      if (answer.status === 200) served++
    }
  }
  await Promise.all(Array.from({ length: 8 }, client))
  return served
}

async function exit(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null) return child.exitCode
  return (await once(child, 'exit'))[0]
}

for (const pretty of [false, true]) {
  t.test(`a pipe that is full${pretty ? ', of lines for people' : ''}`, async (t) => {
    const args = [MAIN, 'start', ...(pretty ? ['--pretty'] : [])]
    const { child, front, ops } = await startUnread(t, process.execPath, args)
    t.equal(await ask(front, REQUESTS), REQUESTS)
    const metrics = await (await fetch(`${ops}/metrics`)).text()
    t.ok(Number(/^seatgate_log_lines_dropped (\d+)/m.exec(metrics)?.[1]) > 0, 'the loss is counted')
    child.kill('SIGTERM')
    t.equal(await exit(child), 0)
  })
}

t.test('a reader that lags, and goes on when the gateway ends, loses nothing', async (t) => {
  const { child, front } = await startUnread(t, process.execPath, [MAIN, 'start'])
  t.equal(await ask(front, 400), 400)
  const reading = new Promise<string>((resolve) => {
    let rest = ''
    child.kill('SIGTERM')
    setTimeout(() => child.stdout?.on('data', (chunk) => (rest += chunk)), 500)
    child.stdout?.once('end', () => resolve(rest))
  })
  t.equal(await exit(child), 0)
  const lines = (await reading).trimEnd().split('\n')
  const messages = lines.map((line) => JSON.parse(line).msg)
  t.equal(messages.filter((message) => message === 'request').length, 400)
  t.equal(messages.at(-1), 'ended')
})

t.test('a reader that has gone', async (t) => {
  const { child, front, ops } = await startUnread(t, process.execPath, [MAIN, 'start'])
  child.stdout?.destroy()
  t.equal(await ask(front, 80), 80)
  const metrics = await (await fetch(`${ops}/metrics`)).text()
  t.ok(Number(/^seatgate_log_lines_dropped (\d+)/m.exec(metrics)?.[1]) > 0, 'the loss is counted')
  child.kill('SIGTERM')
  t.equal(await exit(child), 0)
})

t.test('a full disk', async (t) => {
  if (!existsSync('/dev/full')) return void t.pass('not tried: this machine has no /dev/full')
  const cwd = folderWith(t, {
    'gateway.config.yaml': CONFIG,
    'routes/main.yaml': 'upstream: trainings\nroutes: {}\n',
  })
  const full = openSync('/dev/full', 'w')
  t.teardown(() => closeSync(full))
  const env = { ...process.env, ACME_SECRET: SECRET }
  const child = spawn(process.execPath, [MAIN, 'start'], { cwd, env, stdio: ['ignore', full, 'pipe'] })
  t.teardown(() => child.kill('SIGKILL'))
  let err = ''
  child.stderr?.on('data', (chunk) => (err += chunk))
  // The store is made before the listeners are; signals are heard after.
  while (!existsSync(join(cwd, 'seatgate.db'))) await sleep(25)
  await sleep(1000)
  child.kill('SIGTERM')
  t.equal(await exit(child), 0)
  t.match(err, /^seatgate start: standard output, where the log goes, can't be written \(ENOSPC\): [^\n]+\n$/)
})
