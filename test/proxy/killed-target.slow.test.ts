/** A target is killed and restarted under load: no idempotent request fails, and no POST arrives twice. */

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { EJECTION } from '../../src/proxy/upstream-options.ts'
import { Client } from '../support/client.ts'
import { until } from '../support/until.ts'
import { front, targetsAt } from './support.ts'
import { serverFolder } from '../support/servers/folder.ts'

const PROGRAM = fileURLToPath(new URL('./target-process.ts', import.meta.url))
const CLIENTS = 16

async function start(t: Test, file: string, port = 0): Promise<{ process: ChildProcess; port: number }> {
  const child = fork(PROGRAM, [file, String(port)])
  t.teardown(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  })
  const [listening] = await once(child, 'message')
  return { process: child, port: Number(listening) }
}

async function kill(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL')
  await once(child, 'exit')
}

/** Clients that send requests until they are stopped. */
class Load {
  /** `METHOD /path` → status; 0: no response. */
  readonly answers = new Map<string, number>()
  #stopped = false
  readonly #done: Promise<unknown>

  constructor(port: number) {
    this.#done = Promise.all(Array.from({ length: CLIENTS }, (_, i) => this.#ask(new Client(port), i)))
  }

  async #ask(client: Client, number: number): Promise<void> {
    for (let i = 0; !this.#stopped; i++) {
      const method = i % 3 === 0 ? 'POST' : i % 3 === 1 ? 'GET' : 'DELETE'
      const path = `/${number}/${i}`
      const body = method === 'POST' ? 'body' : undefined
      const answer = await client.send(method, path, {}, body).catch(() => ({ status: 0 }))
      this.answers.set(`${method} ${path}`, answer.status)
    }
    client.close()
  }

  /** Waits until this number of further requests have a response. */
  async more(count: number): Promise<void> {
    const wanted = this.answers.size + count
    await until(
      () => this.answers.size >= wanted,
      () => `${wanted - this.answers.size} responses are missing`,
    )
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await this.#done
  }
}

t.test('killed twice', async (t) => {
  const folder = serverFolder(t, 'killed')
  const file = join(folder, 'seen')
  const steady = await start(t, file)
  let victim = await start(t, file)
  const ejection = { ...EJECTION, backoff: 100, maxBackoff: 200 }
  const { port, upstream } = await front(t, 0, { ...targetsAt(steady.port, victim.port), ejection })
  const load = new Load(port)
  for (let round = 0; round < 2; round++) {
    await load.more(300)
    await kill(victim.process)
    await load.more(300)
    victim = await start(t, file, victim.port)
    const isBack = async () => {
      await load.more(20)
      return upstream.targets().every(({ state }) => state === 'in')
    }
    await until(isBack, 'the target that has started again')
  }
  await load.stop()
  const seen = new Map<string, number>()
  for (const line of readFileSync(file, 'utf8').trim().split('\n')) seen.set(line, (seen.get(line) ?? 0) + 1)
  const all = [...load.answers]
  const failed = all.filter(([line, status]) => !line.startsWith('POST') && status !== 200)
  t.same(failed, [], 'no idempotent request failed')
  const doubled = [...seen].filter(([line, times]) => line.startsWith('POST') && times > 1)
  t.same(doubled, [], 'no POST arrived twice')
  const lost = all.filter(([line, status]) => status === 200 && !seen.has(line))
  t.same(lost, [], 'every successful POST had arrived')
  const unlucky = all.filter(([line, status]) => line.startsWith('POST') && status !== 200)
  t.ok(
    unlucky.every(([, status]) => status === 502),
    `${unlucky.length} of ${all.length} were POSTs in flight, and reported as failed`,
  )
  t.ok(unlucky.length <= 2 * CLIENTS, 'no more than were in flight')
})
