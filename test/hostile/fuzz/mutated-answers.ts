/**
 * Mutated responses: the client receives what the strictest reader finds in them, or nothing complete, and the next
 * request on the same connections gets its own response. The failure has the seed.
 */

import type { Test } from 'tap'
import { HostileUpstream } from '../hostile-upstream.ts'
import { makeAnswer, readAnswer } from './answers.ts'
import { Random } from '../../support/random.ts'

/** The next requests are checked after each of this many. */
const CHECKED = 10

export async function playMutated(t: Test, cases: number): Promise<void> {
  const seed = Date.now() % 1_000_000_000
  const hostile = await HostileUpstream.start(t)
  let whole = 0
  for (let index = 0; index < cases; index++) {
    if (await playOne(t, hostile, seed, index)) whole++
    if (index % CHECKED === 0) t.ok(await hostile.nextRequestsWork(), 'the next requests are unaffected')
  }
  const refused = cases - whole
  t.comment(JSON.stringify({ seed, whole, refused }))
  t.ok(whole > cases / 6 && refused > cases / 6)
}

/** @returns whether the client got a response of the upstream */
async function playOne(t: Test, hostile: HostileUpstream, seed: number, index: number): Promise<boolean> {
  const random = new Random(seed, index)
  const { bytes, valid } = makeAnswer(random)
  const at = random.below(bytes.length + 1)
  const packets = random.once(2) ? bytes : [bytes.slice(0, at), bytes.slice(at)]
  const { all, text } = await hostile.play({ packets, after: (socket) => socket.end() })
  const due = readAnswer(bytes)
  const [given] = all
  const name = `seed ${seed}, answer ${index}: ${JSON.stringify(bytes)}`
  const passed = given !== undefined && given.code === null
  if (passed && (given.status !== due?.status || given.body !== due.body))
    t.fail(`${name} became ${JSON.stringify(text)}`)
  if (valid && given?.code !== null) t.fail(`${name} did not pass: ${JSON.stringify(text)}`)
  if (given !== undefined && given.code !== null && given.status !== 502) t.fail(`${name} is ${given.status}`)
  return passed
}
