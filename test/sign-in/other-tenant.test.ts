/** A user of one tenant at a page of another: the refusal is a page that leads to a sign-in as another user. */

import t from 'tap'
import { NAVIGATION } from './visitor.ts'
import { startSignIn } from './world.ts'

const world = await startSignIn(t)
world.user('alice')
world.user('alice', {}, world.globex)

t.test('a page with sign_in is for the users of that tenant', async (t) => {
  const visitor = world.visitor()
  await visitor.page('/pages/a')
  const refused = await visitor.ask('/globex/report', { headers: NAVIGATION })
  t.equal(refused.status, 403)
  t.match(refused.headers['content-type'], 'text/html')
  t.equal(refused.headers['referrer-policy'], 'same-origin', 'else browsers would send the Origin null')
  t.notMatch(refused.headers['content-security-policy'], 'form-action', 'else they would stop the redirect')
  const program = await visitor.ask('/globex/report')
  t.equal(program.json.code, 'tenant_mismatch', 'a program reads the problem document')
})

t.test('its form signs in at the tenant of the page, and asks who the user is', async (t) => {
  const visitor = world.visitor()
  await visitor.page('/pages/a')
  const target = '/globex/report?year=2026&q=%22%3E'
  const refused = await visitor.ask(target, { headers: NAVIGATION })
  const fields = Object.fromEntries(
    [...refused.body.matchAll(/name="(\w+)" value="([^"]*)"/g)].map(([, name = '', value = '']) => [
      name,
      value.replaceAll('&amp;', '&'),
    ]),
  )
  t.same(fields, { tenant: 'globex', return_to: target, prompt: 'login' })
  const sent = await visitor.post(`${world.origin}/auth/oidc/login`, fields, { origin: world.origin })
  t.match(sent, { status: 303, headers: { location: /[?&]prompt=login(&|$)/ } })
  const page = await visitor.onward(sent)
  t.match(page, { status: 200, url: world.origin + target })
  t.match(world.gateway.upstream.seen.at(-1)?.headers, { 'x-seatgate-tenant': 'globex' })
})

t.test('a login asks for a prompt of the provider, and for none that there is not', async (t) => {
  const visitor = world.visitor()
  const began = await visitor.begin('acme', { prompt: 'login' })
  t.match(began.json.authorization_url, /[?&]prompt=login(&|$)/)
  for (const prompt of ['none', 'consent', '', 'login select_account']) {
    const refused = await visitor.begin('acme', { prompt })
    t.equal(refused.json.code, 'input_invalid', prompt)
    t.match(refused.json.errors, [{ path: '/prompt' }], prompt)
  }
})
