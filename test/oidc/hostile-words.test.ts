/** Error texts from a provider or a forged link: never shown, and logged only after cleaning. */

import type { Test } from 'tap'
import t from 'tap'
import { ACCESS_TOKEN, callbackOf, HostileProvider } from './hostile-provider.ts'
import { freshWorld, seat, shareWorld } from './world.ts'

// The words of a callback are long.
shareWorld({ top: ['limits: { target_bytes: 32KiB }'] })

const HOSTILE = [
  '<script>alert(1)</script>',
  '"}\r\n{"level":"error","message":"forged"}',
  '\u001b[2J\u001b]0;owned\u0007',
  '\u2028\u2029\u0000',
  'A'.repeat(100_000),
  '${jndi:ldap://evil.example/x}',
  'Ünïcödé and 漢字',
]

t.test('error parameters of a callback', async (t) => {
  const world = await freshWorld()
  const provider = await HostileProvider.start(t)
  await provider.takes(world)
  for (const words of [
    ...HOSTILE.map((each) => each.slice(0, 4000)),
    'access_denied',
    'login_required',
    'x',
  ]) {
    const browser = world.visitor()
    const begun = await browser.begin()
    const error = { error: words, error_description: words, error_uri: `https://evil.example/${words}` }
    const page = await browser.send(callbackOf(world, begun.json.state, error))
    t.equal(page.status, 401)
    t.equal(page.json.code, 'credentials_missing')
    t.equal(page.json.detail, 'The identity provider did not sign the user in.')
    t.equal(page.headers.location, undefined)
  }
  t.equal(provider.forms.length, 0, 'the code in the same response was not redeemed')
  checkLines(t, world.lines())
  t.match(
    world.events('sign_in_failed').at(-3),
    { reason: 'access_denied access_denied' },
    'standard codes are kept',
  )
})

t.test('the provider reports that it is unavailable', async (t) => {
  const world = await freshWorld()
  const provider = await HostileProvider.start(t)
  await provider.takes(world)
  for (const error of ['temporarily_unavailable', 'server_error']) {
    const browser = world.visitor()
    const begun = await browser.begin()
    const page = await browser.send(callbackOf(world, begun.json.state, { error }))
    t.match(page.json, { status: 503, code: 'unavailable' })
  }
})

t.test('an error with an unknown state is not logged', async (t) => {
  const world = await freshWorld()
  const page = await world.visitor().send(`${world.origin}/auth/oidc/callback?error=access_denied&state=x`)
  t.equal(page.status, 400)
  t.same(world.lines(), [])
})

t.test('errors of the token endpoint', async (t) => {
  const world = await freshWorld()
  const provider = await HostileProvider.start(t)
  await provider.takes(world)
  for (const words of HOSTILE) {
    for (const error of [words, 'invalid_grant', 'invalid_client', 'unsupported_grant_type']) {
      const body = { error, error_description: words }
      provider.answers.set('/token', () => ({ status: 400, body }))
      const browser = world.visitor()
      const begun = await browser.begin()
      const page = await browser.send(callbackOf(world, begun.json.state))
      const expected = error === 'invalid_grant' ? 'token_invalid' : 'unavailable'
      t.equal(page.json.code, expected, 'only a rejected grant is an error of the user')
      t.notMatch(page.body, 'evil')
      t.notMatch(page.body, 'script')
      t.notMatch(page.body, 'forged')
    }
  }
  checkLines(t, world.lines())
})

t.test('errors in a WWW-Authenticate challenge', async (t) => {
  const world = await freshWorld()
  const provider = await HostileProvider.start(t)
  await provider.takes(world)
  const challenge = 'Bearer realm="evil <script>", error="invalid_client", error_description="<script>"'
  provider.answers.set('/token', () => ({
    status: 401,
    headers: { 'www-authenticate': challenge },
    body: {},
  }))
  const browser = world.visitor()
  const begun = await browser.begin()
  const page = await browser.send(callbackOf(world, begun.json.state))
  t.equal(page.json.code, 'unavailable')
  t.notMatch(page.headers['www-authenticate'] ?? '', 'evil')
  checkLines(t, world.lines())
})

t.test('credentials that the provider echoes', async (t) => {
  const world = await freshWorld()
  const provider = await HostileProvider.start(t)
  await provider.takes(world)
  const browser = world.visitor()
  const begun = await browser.begin()
  provider.answers.set('/token', (form) => {
    for (const name of ['code', 'code_verifier']) world.secrets.add(form.get(name) ?? '')
    const error_description = `no such code ${form.get('code')} or verifier (${form.get('code_verifier')})`
    return { status: 400, body: { error: 'invalid_grant', error_description } }
  })
  await browser.send(callbackOf(world, begun.json.state))
  t.match(world.events('sign_in_failed'), [
    { reason: 'the code: the provider responded with invalid_grant no such code […] or verifier ([…])' },
  ])
})

t.test('Seat names', async (t) => {
  const world = await freshWorld()
  const provider = await HostileProvider.start(t)
  await provider.takes(world)
  await seat(world, 'Viewer', ['s1'])
  const memberOf = [
    ...HOSTILE,
    'Viewer',
    '',
    '__proto__',
    '\ud800',
    ...Array.from({ length: 2000 }, (_, i) => `name ${i}`),
  ]
  const page = await provider.signIn(world, { memberOf: memberOf.map((each) => each.slice(0, 2000)) })
  t.same(page.json.user.seats, ['Viewer'])
  t.equal(world.events('seats_unknown').length, 1, 'one log line')
  t.match(world.events('seats_unknown'), [{ names: { length: 10 } }], 'the line has ten of the names')
  checkLines(t, world.lines())
})

t.test('a claim of another shape names no Seat, and is logged', async (t) => {
  const world = await freshWorld()
  const provider = await HostileProvider.start(t)
  await provider.takes(world)
  await seat(world, 'Viewer', ['s1'])
  for (const memberOf of [{ 0: 'Viewer' }, ['Viewer', 7], 7, true, [['Viewer']]]) {
    const page = await provider.signIn(world, { memberOf })
    t.same(page.json.user.seats, [], JSON.stringify(memberOf))
  }
  t.equal(world.events('seats_claim_unreadable').length, 5)
})

t.test('userinfo of another subject', async (t) => {
  const world = await freshWorld()
  const provider = await HostileProvider.start(t)
  provider.metadata = { userinfo_endpoint: `${provider.issuer}/userinfo` }
  await provider.takes(world)
  await seat(world, 'Viewer', ['s1'])
  let seen: unknown = null
  for (const [sub, status] of [
    ['mallory', 401],
    [undefined, 401],
    ['alice', 200],
  ] as const) {
    provider.answers.set('/userinfo', (_form, headers) => {
      seen = headers.authorization
      return { body: { sub, memberOf: ['Viewer'] } }
    })
    const page = await provider.signIn(world, { memberOf: undefined })
    t.equal(page.status, status, String(sub))
    if (status === 200) t.same(page.json.user.seats, ['Viewer'])
    else t.equal(page.json.code, 'token_invalid')
  }
  t.equal(seen, `Bearer ${ACCESS_TOKEN}`)
})

function checkLines(t: Test, lines: readonly unknown[]): void {
  t.ok(lines.length > 0)
  for (const line of lines) {
    const text = JSON.stringify(line)
    t.ok(text.length < 4000, 'the line is bounded')
    t.notMatch(text, /[\u0000-\u001f\u2028\u2029]|\\u00|\\r|\\n/, 'one line without control characters')
  }
}
