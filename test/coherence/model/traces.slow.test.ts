/**
 * What happens in the simulation, which runs the code of the product, happens in the model too. So the model is one of this code,
 * and stays so. What a broken variant does, or what could not happen, the model does not have.
 */

import t from 'tap'
import { amount } from '../../support/thorough.ts'
import { type ModelEvent, WORDS } from '../simulation/model-trace.ts'
import { inThread } from '../simulation/thread.ts'
import { replayer } from './replay.ts'
import { withoutSpin } from './spin.ts'

// It takes half a minute; on a busy machine, more.
t.setTimeout(1_800_000)

/** The variants of which some of these traces show that they are broken. */
const SHOWN = [
  'no wait for acknowledgements',
  'a lease never expires',
  'every value of the shared cache counts',
  'an unlisted instance has a lease',
  'a reading from before the registration gives a lease',
  'an instance is removed whatever its beat',
  'an instance is removed at once',
  'an instance is removed too early',
  'an announcement to a worker counts as applied when sent',
  'a beat reports changes that workers have not applied',
  'an acknowledgement does not wait for earlier changes',
  'memory is not brought up to the position of a value',
  'no margin',
]
const TRACES = 60

const skip = await withoutSpin()

if (skip !== false) t.pass({ skip })
else {
  const replay = await replayer(t)
  const schedules = amount({ usual: 300, thorough: 3000 })
  const real = { variant: null, from: 1, schedules }
  const broken = SHOWN.map((variant) => ({ variant, from: 1, schedules: TRACES }))
  const { told } = await inThread({ searches: [], told: [real, ...broken] })
  const [traces = [], ...ofVariants] = told

  t.test('the model has what happens in the simulation', async (t) => {
    for (const [at, events] of traces.entries()) {
      const first = await replay(events)
      if (first !== null) t.fail(`schedule ${at + 1}: event ${first}`, { events: around(events, first) })
    }
    t.ok(traces.length > schedules / 2, `${traces.length} traces`)
    const words = new Set(traces.flat().map(([word]) => word))
    t.same([...words].sort(), [...WORDS].sort(), 'each event happens')
  })

  for (const [at, variant] of SHOWN.entries())
    t.test(variant, async (t) => {
      for (const [number, events] of ofVariants[at]?.entries() ?? [])
        if ((await replay(events)) !== null) return t.pass(`schedule ${number + 1} shows it`)
      return t.fail(`${TRACES} traces do not show it`)
    })

  t.test('a response before what it waits for', async (t) => {
    const events = traces.find((each) => each.some(([word]) => word === 'answer')) ?? []
    const [answer] = events.filter(([word]) => word === 'answer')
    const begun = events.findIndex(([word, write]) => word === 'announce' && write === answer?.[1])
    t.ok(answer && begun >= 0)
    const moved = events.filter((event) => event !== answer)
    if (answer !== undefined) moved.splice(begun + 1, 0, answer)
    t.equal(await replay(moved), begun + 1)
  })

  t.test('a decision on a value that was not read', async (t) => {
    const events = traces.find((each) => each.some(([word]) => word === 'look')) ?? []
    const look = events.findIndex(([word]) => word === 'look')
    const [, gateway, key] = events[look] ?? []
    const without = events.filter(
      ([word, ...values], at) => at >= look || word !== 'load' || values[0] !== gateway || values[1] !== key,
    )
    t.equal(await replay(without), look - (events.length - without.length))
  })
}

function around(events: readonly ModelEvent[], at: number): string[] {
  return events.slice(Math.max(0, at - 30), at + 1).map((event) => event.join(' '))
}
