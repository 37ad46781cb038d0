/** PEM files of certificates: an unparsable certificate is an error at any position, because OpenSSL skips it. */

import { readFileSync } from 'node:fs'
import t from 'tap'
import { authorityTime, certificateFault, clientCertificateTime } from '../../src/config/pem.ts'
import { CERTIFICATES } from '../support/servers/tls.ts'

const good = readFileSync(CERTIFICATES.files.ca, 'latin1')
const lines = good.trim().split('\n')
const truncated = lines.slice(0, 4).join('\n')
const broken = good.replace('-----BEGIN CERTIFICATE-----\n', (line) => `${line}-`)
const garbage = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'

t.test('valid files', async (t) => {
  for (const text of [good, good + good, `subject=/CN=a\n${good}`, good.replaceAll('\n', '\r\n')])
    t.equal(certificateFault(text), null)
})

t.test('files without a certificate', async (t) => {
  const key = readFileSync(CERTIFICATES.files.clientKey, 'latin1')
  for (const text of ['', 'x', key]) t.match(certificateFault(text), /contains no PEM certificate/)
})

t.test('an unparsable one alone, first, or last', async (t) => {
  for (const bad of [truncated, broken, garbage]) {
    for (const text of [bad, `${bad}\n${good}`, `${good}\n${bad}`, `${good}\n${bad}\n${good}`])
      t.match(certificateFault(text), /cannot be parsed/)
  }
})

t.test('the time of validity: of the first certificate, and of any authority', async (t) => {
  const expired = readFileSync(CERTIFICATES.files.expired, 'latin1')
  const now = Date.UTC(2026, 0, 1)
  t.equal(clientCertificateTime(good + expired, now), null)
  t.match(clientCertificateTime(expired + good, now), /expired on 2021-01-01: .* shows 2026-01-01T/)
  t.match(clientCertificateTime(good, 0), /not valid before 2020-01-01: .* shows 1970-01-01T/)
  t.equal(authorityTime(expired + good, now), null)
  t.match(authorityTime(expired + expired, now), /expired on 2021-01-01/)
})
