/** The writer of `seatgate verify`: after each 2xx, the readers have time to see the change before the next one. */

import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { Pace, Writer } from '../../../src/cli/verify/change-writer.ts'
import type { Credential } from '../../../src/cli/verify/expected-answers.ts'
import { Subjects } from '../../../src/cli/verify/readers.ts'
import { RunRecord } from '../../../src/cli/verify/run-record.ts'

/** ms: a little less than promised, as timers and this clock are rounded differently. */
const READ_TIME = 245
const INTERVAL = 10

t.test('a write that takes longer than the interval is not followed at once by the next one', async (t) => {
  const record = new RunRecord(['a'], () => performance.now(), Date.now())
  const began: number[] = []
  const ended: number[] = []
  const send = async <V>() => {
    began.push(performance.now())
    await sleep(2 * INTERVAL)
    ended.push(performance.now())
    return { value: null as V, tag: null, requestId: '' }
  }
  const writer = new Writer<null>({
    places: [{ name: 'a', send }],
    subjects: new Subjects<Credential>(),
    record,
    pace: new Pace(INTERVAL),
    signal: new AbortController().signal,
  })
  for (let count = 0; count < 2; count++) await writer.write('grant', null, () => writer.state)
  t.ok((began[1] ?? 0) - (ended[0] ?? 0) >= READ_TIME)
})
