/** Client authentication at token endpoints that decode HTTP Basic credentials, and at those that do not. */

import type { Test } from 'tap'
import t from 'tap'
import { HostileProvider } from './hostile-provider.ts'
import { freshWorld, type SignInWorld } from './world.ts'

const CLIENT_ID = 'acme-gate_way.1~x'
const UNRESERVED = 'S3cret-with_un.reserved~characters'
const RESERVED = `S3cret with:+%/&="ü€ and !'()* in it`

type Accepts = (
  id: string,
  secret: string,
  headers: Readonly<Record<string, unknown>>,
  form: URLSearchParams,
) => boolean

const sent = ({ authorization }: Readonly<Record<string, unknown>>) =>
  Buffer.from(String(authorization).replace(/^Basic /, ''), 'base64').toString()
const decoded = (text: string) => new URLSearchParams(`value=${text.replaceAll('&', '%26')}`).get('value')

/** As glewlwyd and LemonLDAP::NG do: no decoding. */
const comparesAsSent: Accepts = (id, secret, headers) => sent(headers) === `${id}:${secret}`
/** RFC 6749, section 2.3.1. */
const decodes: Accepts = (id, secret, headers) => {
  const [first = '', second = '', ...more] = sent(headers).split(':')
  return more.length === 0 && decoded(first) === id && decoded(second) === secret
}
/** Refuses encoded characters that need no encoding, and white space. */
const decodesStrictly: Accepts = (id, secret, headers, form) =>
  /^(?:[A-Za-z0-9_.~:+-]|%(?!2D|2E|5F|7E)[0-9A-F]{2})*$/.test(sent(headers)) &&
  decodes(id, secret, headers, form)
const readsBody: Accepts = (id, secret, headers, form) =>
  headers.authorization === undefined && form.get('client_id') === id && form.get('client_secret') === secret

async function provided(t: Test, secret: string, accepts: Accepts, error = 'invalid_client') {
  const world = await freshWorld()
  world.secrets.add(secret)
  const provider = await HostileProvider.start(t)
  const config = { clientId: CLIENT_ID, clientSecret: secret, clientAuth: null }
  const take = (more = {}) => provider.takes(world, { acme: { ...config, ...more } })
  await take()
  const signIn = async () => {
    const make = async (nonce: string) => provider.sign(provider.claims({ aud: CLIENT_ID, nonce }))
    const browser = world.visitor()
    const begun = await browser.begin()
    const parameters = new URL(begun.json.authorization_url).searchParams
    const idToken = await make(parameters.get('nonce') ?? '')
    provider.answers.set('/token', (form, headers) =>
      accepts(CLIENT_ID, secret, headers, form)
        ? { body: { access_token: 'x', token_type: 'Bearer', id_token: idToken } }
        : { status: error === 'invalid_client' ? 401 : 400, body: { error } },
    )
    const query = new URLSearchParams({ code: 'a-code', state: parameters.get('state') ?? '' })
    return browser.send(`${world.origin}/auth/oidc/callback/acme?${query}`)
  }
  return { world, provider, take, signIn }
}

const reasons = (world: SignInWorld) => world.events('sign_in_failed').map(({ reason }) => String(reason))

for (const [name, accepts, secrets] of [
  ['that compares without decoding', comparesAsSent, [UNRESERVED]],
  ['that decodes', decodes, [UNRESERVED, RESERVED]],
  ['that decodes, and refuses unnecessary encoding', decodesStrictly, [UNRESERVED, RESERVED]],
] as const)
  t.test(`Basic, with default settings, at a token endpoint ${name}`, async (t) => {
    for (const secret of secrets) {
      const { signIn } = await provided(t, secret, accepts)
      t.equal((await signIn()).status, 200, secret)
    }
  })

for (const error of ['invalid_client', 'unauthorized_client'])
  t.test(`the log names the setting to change: ${error}`, async (t) => {
    const { world, take, signIn } = await provided(t, RESERVED, comparesAsSent, error)
    t.match((await signIn()).json, { status: 503, code: 'unavailable' })
    t.match(reasons(world).at(-1), error)
    t.match(reasons(world).at(-1), 'set client_auth: client_secret_post')
    await take({ clientAuth: 'client_secret_post' })
    await signIn()
    t.match(reasons(world).at(-1), 'set client_auth: client_secret_basic', 'the same in the other direction')
    await take({ clientAuth: 'none', clientSecret: null })
    await signIn()
    t.match(reasons(world).at(-1), 'set a client_secret')
  })

t.test('the setting that the log names solves it', async (t) => {
  const { world, take, signIn } = await provided(t, RESERVED, readsBody, 'unauthorized_client')
  t.equal((await signIn()).status, 503)
  t.match(reasons(world), [/set client_auth: client_secret_post/])
  await take({ clientAuth: 'client_secret_post' })
  t.equal((await signIn()).status, 200)
})

t.test('a 401 without further detail', async (t) => {
  const { world, provider, signIn } = await provided(t, UNRESERVED, decodes)
  t.equal((await signIn()).status, 200)
  for (const headers of [{}, { 'www-authenticate': 'Basic realm="x"' }]) {
    provider.answers.set('/token', () => ({ status: 401, headers, body: '' }))
    const browser = world.visitor()
    const { state } = (await browser.begin()).json
    const page = await browser.send(`${world.origin}/auth/oidc/callback/acme?code=x&state=${state}`)
    t.match(page.json, { status: 503, code: 'unavailable' })
    t.match(reasons(world).at(-1), /responded with 401 .*set client_auth: client_secret_post/)
  }
})
