/** `scim` of a tenant. No message shows a token. */

import t, { type Test } from 'tap'
import { contentHash } from '../../src/config/content-hash.ts'
import { pack, unpack } from '../../src/config/worker-copy.ts'
import { Folder } from './support.ts'

const TOKEN = 'token-of-acme-token-of-acme-token'
const NEW = 'TOKEN-of-acme._~+/-of-acme-token=='
const SECRET = 'secret-of-both-secret-of-both-secret'
const ENV = { SECRET, TOKEN, NEW, OTHER: 'token-of-globex-token-of-globex-token' }
/** The variables that the settings use. */
const used = (settings: object, more: NodeJS.ProcessEnv = {}) =>
  Object.fromEntries(
    Object.entries({ ...ENV, ...more }).filter(
      ([name]) => name === 'SECRET' || name === 'OTHER' || JSON.stringify(settings).includes(`\${${name}}`),
    ),
  )
const OIDC =
  '{ issuer: https://login.example, client_id: NAME, redirect_uri: https://gw.example/auth/oidc/callback MORE}'

interface Settings {
  readonly acme: string
  readonly globex?: string
  readonly oidc?: string
  /** `seats_from` of acme. */
  readonly from?: string | undefined
}

/** `scim` of acme is in line 5, of globex in line 9. */
function folder(t: Test, { acme, globex = '{ token: "${OTHER}" }', oidc = '', from }: Settings): Folder {
  const tenant = (name: string, scim: string, more = '') => [
    `  ${name}:`,
    `    token: { secrets: ['\${SECRET}-${name}'] }`,
    `    oidc: ${OIDC.replace('NAME', name).replace('MORE', more)}`,
    `    scim: ${scim}`,
  ]
  const lines = [
    ...['tenants:', ...tenant('acme', acme, oidc)],
    ...(from === undefined ? [] : [`    seats_from: ${from}`]),
    ...tenant('globex', globex),
    "upstreams: { main: { targets: ['http://127.0.0.1:9001'] } }",
  ]
  return new Folder(t, { 'gateway.config.yaml': `${lines.join('\n')}\n` })
}

async function scimOf(t: Test, acme: string) {
  const { config, faults } = await folder(t, { acme }).load(ENV)
  t.same(faults, [], acme)
  return config?.tenants.get('acme')?.scim
}

t.test('a token, two of them, and how users and callers meet', async (t) => {
  const user = { mode: 'externalId', claim: null }
  t.strictSame(await scimOf(t, '{ token: "${TOKEN}" }'), { token: [TOKEN], user })
  t.strictSame(await scimOf(t, '{ token: ["${NEW}", "${TOKEN}"] }'), { token: [NEW, TOKEN], user })
  t.strictSame(await scimOf(t, '{ token: ["${TOKEN}"], user: externalId }'), { token: [TOKEN], user })
  t.match(await scimOf(t, '{ token: "${TOKEN}", user: userName }'), {
    user: { mode: 'userName', claim: null },
  })
  t.match(await scimOf(t, '{ token: "${TOKEN}", user: { claim: oid } }'), {
    user: { mode: 'claim', claim: 'oid' },
  })
})

t.test('workers get the same', async (t) => {
  const { config } = await folder(t, {
    acme: '{ token: ["${NEW}", "${TOKEN}"], user: { claim: oid } }',
  }).load(ENV)
  t.strictSame(unpack(structuredClone(pack(config))).tenants, config?.tenants)
  t.strictSame(unpack(structuredClone(pack(config))).api, config?.api)
})

t.test('the hash of the tables says whether SCIM has paths', async (t) => {
  const { config } = await folder(t, { acme: '{ token: "${TOKEN}" }' }).load(ENV)
  if (config === null) throw new Error('has a fault')
  t.equal(config.api.scim, true)
  const hash = (scim: boolean) => contentHash(config.routes, { ...config, api: { ...config.api, scim } })
  t.not(hash(true), hash(false))
})

t.test('a token in the file is a warning, without it', async (t) => {
  const at = folder(t, { acme: `{ token: [${TOKEN}, "\${NEW}"] }` })
  t.notMatch(await at.warningsAt(t, ['secret_literal 5:21'], ENV), TOKEN)
})

t.test('faults', async (t) => {
  const faults = async (settings: Settings, places: string, more: NodeJS.ProcessEnv = {}) => {
    const printed = await folder(t, settings).faultsAt(t, places, used(settings, more))
    for (const each of [TOKEN, NEW, SECRET, 'short']) t.notMatch(printed, each)
  }
  await faults({ acme: '{}' }, '5:5')
  await faults({ acme: '{ token: "${SHORT}" }' }, '5:20', { SHORT: 'short' })
  await faults({ acme: '{ token: [] }' }, '5:20')
  await faults({ acme: '{ token: ["${TOKEN}", "${NEW}", "${OTHER}-3"] }' }, '5:20')
  await faults({ acme: '{ token: ["${TOKEN}", "${TOKEN}"] }' }, '5:33')
  await faults({ acme: '{ token: "${TOKEN} x" }' }, '5:20')
  await faults({ acme: '{ token: "=${TOKEN}" }' }, '5:20')
  await faults({ acme: '{ token: "${TOKEN}", user: email }' }, '5:38')
  await faults({ acme: '{ token: "${TOKEN}", user: {} }' }, '5:32')
  await faults({ acme: '{ token: "${TOKEN}", user: { claim: "" } }' }, '5:47')
  await faults({ acme: '{ token: "${TOKEN}", key: x }' }, '5:32')
})

t.test('a token that is something else too', async (t) => {
  const faults = (settings: Settings, places: string) =>
    folder(t, settings).faultsAt(t, places, used(settings))
  await faults({ acme: '{ token: "${OTHER}" }' }, '9:20')
  await faults(
    { acme: '{ token: ["${TOKEN}", "${OTHER}"] }', globex: '{ token: ["${NEW}", "${OTHER}"] }' },
    '9:20',
  )
  await faults({ acme: '{ token: "${SECRET}-acme" }' }, '5:20')
  await faults({ acme: '{ token: "${SECRET}-globex" }' }, '5:20')
  await faults({ acme: '{ token: "${TOKEN}" }', oidc: ', client_secret: "${TOKEN}"' }, '5:20')
})

t.test('a claim and tokens of the provider', async (t) => {
  const oidc = ', accept_provider_tokens: true'
  await folder(t, { acme: '{ token: "${TOKEN}", user: { claim: oid } }', oidc }).faultsAt(t, '5:38', ENV)
  const { faults } = await folder(t, { acme: '{ token: "${TOKEN}" }', oidc }).load(ENV)
  t.same(faults, [])
  const byGroups = await folder(t, {
    acme: '{ token: "${TOKEN}", user: { claim: oid } }',
    oidc,
    from: 'scim',
  }).load(ENV)
  t.same(byGroups.faults, [], 'each decision looks up the user')
})

t.test('seats_from', async (t) => {
  const read = async (from?: string) => {
    const { config, faults } = await folder(t, { acme: '{ token: "${TOKEN}" }', from }).load(ENV)
    return faults.length > 0 ? faults : config?.tenants.get('acme')?.seatsFrom
  }
  t.equal(await read(), 'claim')
  t.equal(await read('claim'), 'claim')
  t.equal(await read('scim'), 'scim')
  await folder(t, { acme: '{ token: "${TOKEN}" }', from: 'groups' }).faultsAt(t, '6:17', ENV)
  const without = `tenants: { acme: { token: { secrets: ['\${SECRET}'] }, seats_from: scim } }\n`
  await new Folder(t, { 'gateway.config.yaml': without }).faultsAt(t, '1:67', ENV)
})

t.test('SCIM needs sign-in', async (t) => {
  const files = {
    'gateway.config.yaml': `tenants: { acme: { token: { secrets: ['\${SECRET}'] }, scim: { token: '\${TOKEN}' } } }\n`,
  }
  await new Folder(t, files).faultsAt(t, '1:55', ENV)
})
