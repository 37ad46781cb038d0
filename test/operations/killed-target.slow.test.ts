/** One of two targets is killed under load: repeatable requests go to the other one; a POST never reaches two targets. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { OperatedGateway } from './gateway.ts'
import { Load } from './load.ts'

const PROGRAM = fileURLToPath(new URL('./target-process.ts', import.meta.url))

interface Target {
  readonly child: ChildProcess
  readonly url: string
}

async function startTarget(t: Test, recordFile: string): Promise<Target> {
  const child = spawn(process.execPath, [PROGRAM, recordFile], { stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => child.kill('SIGKILL'))
  const [port] = (await once(child.stdout as NodeJS.ReadableStream, 'data')) as [Buffer]
  return { child, url: `http://127.0.0.1:${Number(port.toString())}` }
}

t.test('500 requests a second, a third of them POSTs', async (t) => {
  const recordFile = join(t.testdir({}), 'notes')
  const targets = await Promise.all([startTarget(t, recordFile), startTarget(t, recordFile)])
  const gateway = await OperatedGateway.start(t, { targets: targets.map(({ url }) => url) })
  const posts = { lost: 0, answered: [] as string[], odd: [] as string[] }
  const load = new Load({
    port: gateway.port,
    rate: 500,
    send: async (client, n) => {
      if (n % 3 > 0) return client.send('GET', '/docs/a')
      const outcome = await client.send('POST', '/docs/a', '', `post ${n}`)
      if (outcome.kind !== 'answer') return outcome
      if (outcome.status === 200) posts.answered.push(outcome.body)
      else if (outcome.status === 502) posts.lost++
      else posts.odd.push(`${outcome.status} ${outcome.body}`)
      return { kind: 'answer', status: 200, body: '' }
    },
  })
  await load.more(1000)
  targets[0]?.child.kill('SIGKILL')
  await load.more(1500)
  await load.stop()
  t.same(load.failures, [], 'no GET failed')
  t.same(posts.odd, [], 'a POST is answered, or gets 502')
  const recorded = readFileSync(recordFile, 'utf8').trim().split('\n')
  t.equal(new Set(recorded).size, recorded.length, 'no POST twice')
  t.same(
    posts.answered.filter((body) => !recorded.includes(body)),
    [],
    'an answered POST was applied',
  )
  t.ok(posts.answered.length > 500)
  t.comment(`${load.answered} requests, ${recorded.length} POSTs at the targets, ${posts.lost} answered 502`)
  t.equal(await gateway.metric('seatgate_upstream_ejections_total{upstream="main"}'), 1)
})
