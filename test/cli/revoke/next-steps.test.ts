/** What `seatgate revoke` says of gateways that have not answered a revocation. */

import t from 'tap'
import { nextSteps } from '../../../src/cli/revoke/revocation-output.ts'

const OWN = { id: 'own', name: 'gw-1 7', how: 'acknowledged', ms: 0.4, cut: 0 } as const
const LISTED = { started_at: null, seq: 9, hash: null, url: null, version: '1.1.0', age_ms: 20 }

function steps(silent: readonly string[], fleet: readonly Partial<Record<string, unknown>>[] | null) {
  const instances = silent.map(
    (id) => ({ id, name: `host ${id}`, how: 'acknowledged', ms: 3, cut: null }) as const,
  )
  const listed = fleet?.map((each) => ({ id: '', ...LISTED, ...each })) ?? null
  return nextSteps({ instances: [OWN, ...instances] }, listed)
}

t.test('each is named, with what the list of gateways says of it', async (t) => {
  const fleet = [
    { id: 'own' },
    { id: 'older', version: '1.0.9' },
    { id: 'oldest', version: null },
    { id: 'silent', age_ms: 3700 },
    { id: 'late' },
  ]
  const text = steps(['older', 'oldest', 'silent', 'late', 'away'], fleet)
  t.match(text, /^partial: 5 gateways have not said that what was open is cut/)
  t.match(
    text.replaceAll('\n    ', ' '),
    '  host older: version 1.0.9, not 1.1.0: a version without revocations',
  )
  t.match(text.replaceAll('\n    ', ' '), '  host oldest: version unknown, not 1.1.0: ')
  t.match(text, '  host silent: no sign of life for 4 seconds\n')
  t.match(text, '  host late: live, but it did not say so within two seconds\n')
  t.match(text, '  host away: off the list: it has ended, is frozen or cannot reach the store\n')
  t.match(
    text,
    /\nEnd them, or let them go on, and run the command again\. A gateway that was\nkilled has nothing open: it is named for a minute\.$/,
  )
  for (const line of text.split('\n')) t.ok(line.length <= 80, line)
})

t.test('without the list: the names alone', async (t) => {
  t.match(steps(['b'], null), /:\n  host b\nEnd it, or let it go on,/)
  t.match(steps(['unknown'], [{ id: 'own' }]), /:\n  host unknown\nEnd/)
})

t.test('many', async (t) => {
  const ids = Array.from({ length: 12 }, (_, at) => `i${at}`)
  t.match(steps(ids, null), /\n  host i9\n  and 2 more\nEnd them, or let them/)
})

t.test('the gateway that made it has ended', async (t) => {
  t.match(nextSteps({ instances: [] }, null), /has not told what it reached\. Run\s+the command again/)
})
