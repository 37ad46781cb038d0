/** `seatgate verify` interrupted: what it made is deleted, and a drill is not left half done. */

import { existsSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { listen } from '../../support/listen.ts'
import { until } from '../../support/until.ts'
import { outcomeOf } from '../command-line.ts'
import { startGate } from './gate.ts'

const { names, start, folder } = await startGate(t)
const before = await names()

t.test('Ctrl-C during a drill: the command runs to its end', async (t) => {
  const drill = 'touch begun; until [ -e go-on ]; do sleep 0.1; done; touch ended'
  const child = start('--duration', '20s', '--during', drill)
  const ran = outcomeOf(child)
  let told = ''
  child.stderr.on('data', (text) => (told += text))
  await until(() => existsSync(join(folder, 'begun')), 'the drill begins')
  child.kill('SIGINT')
  await until(() => told.includes('waiting for the command of --during'), 'a line that it waits')
  writeFileSync(join(folder, 'go-on'), '')
  t.equal((await ran).code, 1)
  t.ok(existsSync(join(folder, 'ended')))
  t.same(await names(), before)
})

t.test('Ctrl-C: what was made is deleted, and the report says so', async (t) => {
  const child = start('--duration', '10m')
  const ran = outcomeOf(child)
  await until(async () => (await names()).length >= before.length + 3, 'a Seat and a key are made')
  child.kill('SIGINT')
  const { code, out, err } = await ran
  t.equal(code, 1)
  t.match(out, /it was interrupted/)
  t.match(err, /deleting what it made; a second Ctrl-C leaves it/)
  t.same(await names(), before)
})

t.test('Ctrl-C while a gateway stands still: one request, and no further tries', async (t) => {
  let connections = 0
  const silent = createServer((socket) => {
    connections++
    socket.on('error', () => {}).resume()
  })
  const url = `http://127.0.0.1:${await listen(t, silent)}`
  for (const args of [[], ['--each-instance']]) {
    connections = 0
    const child = start('--url', url, '--timeout', '10m', ...args)
    const ran = outcomeOf(child)
    await until(() => connections > 0, 'it connects')
    child.kill('SIGINT')
    const { code, err } = await ran
    t.equal(code, 1)
    t.match(err, /was interrupted\n$/)
    t.equal(connections, 1)
  }
})
