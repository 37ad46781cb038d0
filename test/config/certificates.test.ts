/** The time of validity of certificates. */

import { readFileSync } from 'node:fs'
import t from 'tap'
import { authorityTime, clientCertificateTime, soon } from '../../src/config/pem.ts'
import { CERTIFICATES } from '../support/servers/tls.ts'

const good = readFileSync(CERTIFICATES.files.ca, 'latin1')
const expired = readFileSync(CERTIFICATES.files.expired, 'latin1')
const DAY = 86_400_000

t.test('of the first certificate, and of any authority', async (t) => {
  const now = Date.UTC(2026, 0, 1)
  t.equal(clientCertificateTime(good + expired, now), null)
  t.match(clientCertificateTime(expired + good, now), /expired on 2021-01-01: .* shows 2026-01-01T/)
  t.match(clientCertificateTime(good, 0), /not valid before 2020-01-01: .* shows 1970-01-01T/)
  t.equal(authorityTime(expired + good, now), null)
  t.match(authorityTime(expired + expired, now), /expired on 2021-01-01/)
})

t.test(
  'a certificate expires soon in its last 30 days, and not before the last third of its lifetime',
  async (t) => {
    for (const [lifetime, days] of [
      [6, 2],
      [45, 15],
      [90, 30],
      [365, 30],
      [3650, 30],
    ] as const) {
      const validity = { from: 0, until: lifetime * DAY }
      const until = (left: number) => validity.until - left * DAY
      t.equal(soon(validity, 0), null, `${lifetime} days: at its birth`)
      t.equal(soon(validity, until(days + 0.01)), null, `${lifetime} days`)
      t.equal(soon(validity, until(days - 0.01)), new Date(validity.until).toISOString().slice(0, 10))
    }
  },
)
