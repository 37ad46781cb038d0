/**
 * Mutated responses: the client receives what the strictest reader finds in them, or nothing complete, and the next
 * request on the same connections gets its own response. The failure has the seed.
 */

import t from 'tap'
import { makeAnswer, readAnswer } from '../hostile/fuzz/answers.ts'
import { Random } from '../hostile/fuzz/random.ts'
import { HostileUpstream } from '../hostile/hostile-upstream.ts'

const CASES = 3000

t.test(`${CASES} responses`, async (t) => {
  const seed = Date.now() % 1_000_000_000
  const hostile = await HostileUpstream.start(t)
  let whole = 0
  let refused = 0
  for (let index = 0; index < CASES; index++) {
    const random = new Random(seed, index)
    const { bytes, valid } = makeAnswer(random)
    const at = random.below(bytes.length + 1)
    const name = `seed ${seed}, answer ${index}: ${JSON.stringify(bytes)}`
    const packets = random.once(2) ? bytes : [bytes.slice(0, at), bytes.slice(at)]
    const { all, text } = await hostile.play({ packets, after: (socket) => void socket.end() })
    const due = readAnswer(bytes)
    const [given] = all
    if (given !== undefined && given.code === null) whole++
    else refused++
    if (
      given !== undefined &&
      given.code === null &&
      (given.status !== due?.status || given.body !== due.body)
    )
      t.fail(`${name} became ${JSON.stringify(text)}`)
    if (valid && given?.code !== null) t.fail(`${name} did not pass: ${JSON.stringify(text)}`)
    if (given !== undefined && given.code !== null && given.status !== 502)
      t.fail(`${name} is ${given.status}`)
    if (index % 10 === 0) t.ok(await hostile.nextRequestsWork(), 'the next requests are unaffected')
  }
  t.comment(JSON.stringify({ seed, whole, refused }))
  t.ok(whole > CASES / 6 && refused > CASES / 6)
})
