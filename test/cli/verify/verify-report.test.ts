/** The report of `seatgate verify`, of a run with more violations than it describes. */

import t from 'tap'
import { RunRecord } from '../../../src/cli/verify/run-record.ts'
import { Subject } from '../../../src/cli/verify/staleness.ts'
import { verifyOutput } from '../../../src/cli/verify/verify-report.ts'

/** Violations that a report describes. */
const DESCRIBED = 1000

t.test('JUnit: a place whose violations are not described fails too', async (t) => {
  const record = new RunRecord(['a', 'b', 'c'], () => 0, 0)
  const write = { operation: 'make key', place: 'a', began: 0, answered: 1, requestId: 'w' }
  const subject = new Subject('key', null, write, ['permission_denied'])
  const read = { began: 2, ended: 3, requestId: 'r' }
  for (let count = 0; count < DESCRIBED; count++)
    record.read(subject, { ...read, place: 'a', answer: 'allow' })
  record.read(subject, { ...read, place: 'b', answer: 'allow' })
  record.read(subject, { ...read, place: 'c', answer: 'permission_denied' })
  const report = {
    run: 'r',
    result: 'violations',
    why: null,
    ...record.report([]),
    left: [],
    revoked: [],
  } as const
  const out = verifyOutput('junit', report)
  t.match(out, /tests="3" failures="2" errors="0" skipped="0"/)
  t.match(out, /name="b: 1 reads"><failure message="1 violations"/)
  t.match(out, /name="c: 1 reads"\/>/)
})
