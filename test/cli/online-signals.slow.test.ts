/** `check --online`: the transmitter of a provider's events, and what it lacks. */

import t from 'tap'
import { TestProvider } from '../oidc/provider.ts'
import { Transmitter } from '../support/transmitter.ts'
import { online } from './online.ts'

const provider = await TestProvider.start(t, { redirectUri: 'https://gw.example/auth/oidc/callback' })
const transmitter = await Transmitter.start(t, '/realms/acme')

/** What is said of it. */
async function said(events: string, more = '') {
  const oidc = `issuer: "${provider.issuer}", allow_insecure: true, ${more} events: { audience: x${events} }`
  const { found, code } = await online(t, { oidc })
  return { line: found.find((each) => each.includes('oidc.events')) ?? '', code }
}

t.test('keys of its own, at the address of its metadata or of the configuration', async (t) => {
  const issuer = `, issuer: "${transmitter.issuer}"`
  t.match(await said(issuer), {
    line: /^ok - tenants\.acme\.oidc\.events\.issuer: \S+, 1 usable key$/,
    code: 0,
  })
  t.match(await said(`${issuer}, jwks_uri: "${transmitter.jwksUri}"`), {
    line: /^ok - tenants\.acme\.oidc\.events\.jwks_uri: \S+, 1 usable key$/,
    code: 0,
  })
})

t.test("the provider's keys", async (t) => {
  t.match(await said(''), { line: /^ok - tenants\.acme\.oidc\.events: \S+, 4 usable keys$/, code: 0 })
})

t.test('what it lacks', async (t) => {
  const cases: [Record<string, unknown>, RegExp][] = [
    [{ issuer: 'https://other.example' }, /names another issuer, https:\/\/other\.example/],
    [{ jwks_uri: undefined }, /jwks_uri is missing or not a string/],
    [
      { delivery_methods_supported: ['urn:ietf:rfc:8936'] },
      /does not push events: .* lacks urn:ietf:rfc:8935/,
    ],
  ]
  for (const [metadata, expected] of cases) {
    transmitter.metadata = metadata
    const { line, code } = await said(`, issuer: "${transmitter.issuer}"`)
    t.match(line, /^fault provider_unavailable tenants\.acme\.oidc\.events\.issuer: /)
    t.match(line, expected)
    t.equal(code, 1)
  }
  transmitter.metadata = {}
  const origin = new URL(transmitter.issuer).origin
  t.match((await said(`, issuer: "${origin}"`)).line, /^fault .* with 404/, 'no metadata')
  t.match((await said(`, issuer: "${origin}", jwks_uri: "${origin}/nothing"`)).line, /^fault .* with 404/)
})
