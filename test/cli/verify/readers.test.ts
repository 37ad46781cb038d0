/** The readers of `seatgate verify`: each place is asked about every credential. */

import t from 'tap'
import type { ReadResult } from '../../../src/cli/verify/place-client.ts'
import { readAll, Subjects } from '../../../src/cli/verify/readers.ts'
import { RunRecord } from '../../../src/cli/verify/run-record.ts'
import { Subject } from '../../../src/cli/verify/staleness.ts'

const PLACES = ['a', 'b', 'c', 'd']
const CREDENTIALS = ['first', 'second']
const ROUNDS = 12

t.test('places that read in step are each asked about every credential', async (t) => {
  const subjects = new Subjects<string>()
  const write = { operation: 'make key', place: 'a', began: 0, answered: 1, requestId: 'w' }
  for (const each of CREDENTIALS) subjects.add(new Subject(each, each, write, ['allow']))
  const asked = new Map(PLACES.map((name) => [name, new Set<string>()]))
  const ends = new AbortController()
  let waiting: (() => void)[] = []
  let round = 0
  /** All answer once all have been asked. */
  const answer = () =>
    new Promise<ReadResult>((resolve) => {
      waiting.push(() => resolve({ answer: 'allow', requestId: '' }))
      if (waiting.length < PLACES.length) return
      if (++round === ROUNDS) ends.abort()
      for (const run of waiting) run()
      waiting = []
      // The next ones follow at once.
      subjects.wake([])
    })
  const places = PLACES.map((name) => ({
    name,
    ask: (credential: string) => {
      asked.get(name)?.add(credential)
      return answer()
    },
  }))
  const record = new RunRecord(PLACES, () => performance.now(), Date.now())
  await readAll(places, subjects, record, { count: 1, signal: ends.signal })
  for (const [name, credentials] of asked) t.same([...credentials].toSorted(), CREDENTIALS, name)
})
