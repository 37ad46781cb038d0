/** Whatever the order of writes, messages, readings and answers of the store: each decision is that of one state. */

import fc from 'fast-check'
import t from 'tap'
import { amount } from '../support/thorough.ts'
import { alice, REQUEST, settled, SlowStore } from './slow-store.ts'

const NAMES = ['A', 'B', 'C']

const name = fc.constantFrom(...NAMES)
const told = fc.nat(3).map((chance) => chance > 0)
const ask = fc.record({ do: fc.constant('ask' as const), names: fc.subarray(NAMES, { minLength: 1 }) })
const answer = fc.record({ do: fc.constant('answer' as const), at: fc.nat(3) })
const write = fc.oneof(
  fc.record({ do: fc.constant('move' as const), from: name, to: name, told }),
  fc.record({ do: fc.constant('block' as const), told }),
)
const rest = fc.oneof(
  fc.record({ do: fc.constant('tell' as const), at: fc.nat(3) }),
  fc.constant({ do: 'read' as const }),
  fc.constant({ do: 'answer all' as const }),
)
/** A request that waits for several answers, with writes between them. */
const episode = fc
  .tuple(
    ask,
    fc.array(answer, { maxLength: 2 }),
    fc.array(write, { maxLength: 2 }),
    fc.array(fc.oneof({ weight: 2, arbitrary: answer }, write, rest), { maxLength: 4 }),
    fc.array(rest, { maxLength: 2 }),
  )
  .map(([first, ...others]) => [first, ...others.flat()])
type Step = typeof episode extends fc.Arbitrary<(infer S)[]> ? S : never

/** What each state answers the holder of these Seats. */
function answerOf({ blocked, seats }: SlowStore, names: readonly string[]): string {
  if (blocked.has('alice')) return 'caller_blocked'
  return names.some((each) => seats.get(each)?.includes('x:y')) ? 'allow' : 'permission_denied'
}

/** Runs the steps. @returns the answers that no state between the beginning and the end of their request gives */
async function torn(steps: readonly Step[]): Promise<string[]> {
  const store = new SlowStore()
  for (const each of NAMES) store.seats.set(each, [])
  store.seats.set('A', ['x:y'])
  store.isSlow = true
  const subsets = NAMES.flatMap((_, at) => NAMES.map((__, to) => NAMES.slice(at, to + 1))).concat([
    ['A', 'C'],
  ])
  /** Names → the answer of each state, in order. */
  const states = new Map(subsets.map((names) => [names.join(), [answerOf(store, names)]]))
  const noteState = () => {
    for (const names of subsets) states.get(names.join())?.push(answerOf(store, names))
  }
  /** Writes that memory was not told of, in order. */
  const untold: ReturnType<SlowStore['commit']>[] = []
  /** The newest state of which every write is answered. */
  let answered = 0
  let written = 0
  const faults: string[] = []
  const pending: Promise<void>[] = []
  const commit = (told: boolean, ...written_: Parameters<SlowStore['commit']>) => {
    const changes = store.commit(...written_)
    written++
    noteState()
    if (!told || untold.length > 0) return void untold.push(changes)
    store.memory.applyAnnouncement(changes)
    answered = written
  }
  const tell = (at: number) => {
    const [changes] = untold.splice(at % Math.max(1, untold.length), 1)
    if (changes !== undefined) store.memory.applyAnnouncement(changes)
    if (untold.length === 0) answered = written
  }
  for (const it of steps) {
    if (it.do === 'move') {
      const { from, to } = it
      const move = () => {
        const permissions = store.seats.get(from) ?? []
        store.seats.set(from, store.seats.get(to) ?? []).set(to, permissions)
      }
      commit(it.told, move, ['seat-name', from], ['seat-name', to])
    } else if (it.do === 'block') {
      const toggle = () => void (store.blocked.delete('alice') || store.blocked.add('alice'))
      commit(it.told, toggle, ['block', 'alice'])
    } else if (it.do === 'tell') tell(it.at)
    else if (it.do === 'read') {
      store.readFeed()
      untold.length = 0
      answered = written
    } else if (it.do === 'answer all') {
      while (store.waiting.length > 0) await store.release()
    } else if (it.do === 'answer') {
      const what = store.waiting[it.at % Math.max(1, store.waiting.length)]
      if (what !== undefined) await store.release(what)
    } else {
      const { names } = it
      const since = answered
      const evaluation = Promise.resolve(store.engine(() => alice(names)).evaluate(REQUEST))
      const check = evaluation.then(
        ({ decision: { code } }) => {
          const given = states.get(names.join())?.slice(since, written + 1) ?? []
          if (!given.includes(code))
            faults.push(`${names.join()} since ${since}: ${code}, not ${given.join()}`)
        },
        () => {},
      )
      pending.push(check)
      await settled()
    }
  }
  store.isSlow = false
  while (store.waiting.length > 0) await store.release()
  await Promise.all(pending)
  if (store.memory.received.waiting > 0) faults.push('records are still watched')
  return faults
}

t.test('each answer is that of a state between the beginning and the end of its request', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(episode, { maxLength: 10 }), async (episodes) => {
      const faults = await torn(episodes.flat())
      if (faults.length > 0) throw new Error(faults.join('; '))
    }),
    { numRuns: amount({ usual: 500, thorough: 50_000 }) },
  )
})
