/**
 * Every setting and every variable that names a PEM file for TLS or for signing: the file is read whole, or a check names it
 * with the line of the fault. OpenSSL reads a part of such files without a word.
 */

import { generateKeyPairSync } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { sharedOptionsOf } from '../../src/cli/remote/gateway-options.ts'
import { type Fault, formatFault } from '../../src/config/faults.ts'
import { loadConfigWithFaults } from '../../src/config/load.ts'
import { Authority } from '../proxy/authority.ts'
import { NO_TERMINAL } from '../cli/in-process.ts'
import { BASE, Folder } from './support.ts'

const authority = new Authority()
const other = new Authority('Other').cert
const { cert, key } = authority.issue({
  names: ['a.example'],
  notAfter: new Date(Date.now() + 90 * 86_400_000),
})
const signing = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
const SIGNING = signing.export({ type: 'pkcs8', format: 'pem' }).toString()
const FILES = { 'ca.pem': authority.cert, 'own.pem': cert, 'own.key': key, 'sign.pem': SIGNING }
type Name = keyof typeof FILES

interface Place {
  /** The pointer into the schema, where it is a key of its own. */
  readonly key?: string
  /** What is below BASE. */
  readonly text: string
  readonly env?: NodeJS.ProcessEnv
  /** The files it names. */
  readonly names: readonly Name[]
}

const listener = (more = '') =>
  `listen: [{ address: "127.0.0.1:8443", tls: { certificates: [{ cert: own.pem, key: own.key }]${more} } }]\n`
const upstream = (tls: string) =>
  BASE.replace(
    /upstreams:.*/,
    `upstreams: { main: { targets: ['https://127.0.0.1:9001'], tls: { ${tls} } } }`,
  )
const provider = (more: string) =>
  BASE.replace(
    ' } } }\n',
    ` }, oidc: { issuer: 'https://login.example', client_id: a, redirect_uri: 'https://gw.example/auth/oidc/callback', ${more} } } }\n`,
  )
const COLLECTOR = { OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector:4318' }

/** @param path the folder of the files: where a path is not relative to the configuration */
const places = (path: string): readonly Place[] => [
  { key: 'listen.tls.certificates.cert', text: BASE + listener(), names: ['own.pem'] },
  { key: 'listen.tls.certificates.key', text: BASE + listener(), names: ['own.key'] },
  { key: 'listen.tls.client_ca', text: BASE + listener(', client_ca: ca.pem'), names: ['ca.pem'] },
  { key: 'upstreams.tls.ca', text: upstream('ca: ca.pem'), names: ['ca.pem'] },
  { key: 'upstreams.tls.cert', text: upstream('cert: own.pem, key: own.key'), names: ['own.pem'] },
  { key: 'upstreams.tls.key', text: upstream('cert: own.pem, key: own.key'), names: ['own.key'] },
  {
    key: 'tenants.oidc.client_key',
    text: provider('client_key: sign.pem'),
    names: ['sign.pem'],
  },
  {
    key: 'tenants.oidc.decryption_keys',
    text: provider('decryption_keys: [sign.pem]'),
    names: ['sign.pem'],
  },
  {
    key: 'identity.keys',
    text: `${BASE}identity: { issuer: gate, keys: [sign.pem] }\n`,
    names: ['sign.pem'],
  },
  {
    text: `${BASE}redis: rediss://h?ca=ca.pem&cert=own.pem&key=own.key\n`,
    names: ['ca.pem', 'own.pem', 'own.key'],
  },
  {
    text: `${BASE}store: postgres://anna@h/x?sslmode=verify-full&sslrootcert=${path}/ca.pem&sslcert=${path}/own.pem&sslkey=${path}/own.key\n`,
    names: ['ca.pem', 'own.pem', 'own.key'],
  },
  { text: BASE, env: { NODE_EXTRA_CA_CERTS: `${path}/ca.pem` }, names: ['ca.pem'] },
  {
    text: BASE,
    env: {
      ...COLLECTOR,
      OTEL_EXPORTER_OTLP_CERTIFICATE: `${path}/ca.pem`,
      OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE: `${path}/own.pem`,
      OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY: `${path}/own.key`,
    },
    names: ['ca.pem', 'own.pem', 'own.key'],
  },
]

const lineCount = (text: string) => text.trim().split('\n').length
const BOM = '\ufeff'

/** Of a file with one block. @returns its content, and the line of the fault */
function faultyForms(name: Name): readonly (readonly [content: string, line: number])[] {
  const good = FILES[name]
  const second = name === 'ca.pem' ? other : name === 'own.pem' ? authority.cert : cert
  const end = lineCount(good)
  return [
    [good.trim() + second, end],
    [BOM + good, 1],
    [`${good}${BOM}${second}`, end + 1],
    [`${good}${second.slice(0, 200)}`, end + 1],
    [good.replaceAll('\n', '\r'), 1],
    [good.replace('\n', '\n-'), 2],
    ...(name === 'ca.pem' ? ([[good + key, end + 1]] as const) : []),
    ...(name.endsWith('.key') || name === 'sign.pem' ? ([[good + SIGNING, end + 1]] as const) : []),
  ]
}

function goodForms(name: Name): readonly string[] {
  const good = FILES[name]
  const second = name === 'ca.pem' ? other : authority.cert
  return [
    good.trim(),
    `subject=CN = a\n${good}\ntext\n\n${second}`,
    `${good}${second}`.replaceAll('\n', '\r\n'),
    ...(name === 'ca.pem' ? [] : [`${cert}${name === 'sign.pem' ? SIGNING : key}`]),
  ]
}

async function found(folder: Folder, { text, env = {} }: Place, files = {}): Promise<readonly Fault[]> {
  folder.write({ ...FILES, ...files, 'gateway.config.yaml': text })
  const { faults, warnings } = await loadConfigWithFaults(folder.file('gateway.config.yaml'), env)
  return [...faults, ...warnings.filter(({ code }) => code === 'telemetry_variable')]
}

t.test('every place refuses every faulty form, with file and line', async (t) => {
  const folder = new Folder(t)
  for (const place of places(folder.path)) {
    const label = place.key ?? (place.text.slice(BASE.length) || JSON.stringify(place.env))
    t.same((await found(folder, place)).map(formatFault), [], label)
    for (const name of place.names)
      for (const [content, line] of faultyForms(name)) {
        const [fault, ...rest] = (await found(folder, place, { [name]: content })).map(formatFault)
        t.match(fault, new RegExp(`"[^"]*${name}"|/${name} `), label)
        t.match(fault, new RegExp(`lines? (?:\\d+ and )?${line}\\b`), `${label} ${name}`)
        t.same(rest, [])
        t.notMatch(fault, content.split(/\r?\n|\r/)[1] ?? '', 'nothing of the content')
      }
  }
})

t.test('every place takes every valid form', async (t) => {
  const folder = new Folder(t)
  for (const place of places(folder.path))
    for (const name of place.names)
      for (const content of goodForms(name))
        t.same(
          (await found(folder, place, { [name]: content })).map(formatFault),
          [],
          `${place.text} ${content}`,
        )
})

t.test(
  'a file that is missing is one that cannot be read, without its name where it may be a secret',
  async (t) => {
    const folder = new Folder(t)
    for (const name of ['NODE_EXTRA_CA_CERTS', 'OTEL_EXPORTER_OTLP_CERTIFICATE']) {
      const env = { ...COLLECTOR, [name]: 'v4lue' }
      const [fault] = (await found(folder, { text: BASE, env, names: [] })).map(formatFault)
      t.match(
        fault,
        /gateway\.config\.yaml:1:1: (?:NODE_EXTRA|OTEL)\w+ names a file that cannot be read: ENOENT/,
      )
      t.notMatch(fault, 'v4lue')
    }
  },
)

t.test('the commands that talk to a gateway: --ca', async (t) => {
  const folder = new Folder(t)
  const options = (ca: string) => sharedOptionsOf({ ca, timeout: '1s', 'api-key': 'k' }, NO_TERMINAL)
  const file = join(folder.path, 'ca.pem')
  for (const [content, line] of faultyForms('ca.pem')) {
    folder.write({ 'ca.pem': content })
    await t.rejects(options(file), new RegExp(`${file} .*line ${line}\\b`))
  }
  for (const content of goodForms('ca.pem')) {
    folder.write({ 'ca.pem': content })
    const { ca = '' } = await options(file)
    t.ok(ca.startsWith(authority.cert))
  }
})

/** Keys of the schema whose files are PEM, by their descriptions. */
function pemKeys(schema: unknown, path: readonly string[] = []): string[] {
  if (typeof schema !== 'object' || schema === null) return []
  const own = 'description' in schema && /\bPEM file/.test(String(schema.description)) ? [path.join('.')] : []
  return [
    ...own,
    ...Object.entries(schema).flatMap(([name, each]) =>
      pemKeys(each, STRUCTURE.has(name) ? path : [...path, name]),
    ),
  ]
}

const STRUCTURE = new Set([
  'properties',
  'additionalProperties',
  'items',
  'oneOf',
  'anyOf',
  '$defs',
  'upstream',
])

t.test('the places are all that there are', async (t) => {
  const schema: unknown = JSON.parse(readFileSync('src/config/gateway.schema.json', 'utf8'))
  const known = places('').flatMap((place) => place.key ?? [])
  const last = (key: string) => key.split('.').slice(-2).join('.')
  t.same(
    [...new Set(pemKeys(schema).map((each) => last(each.replaceAll(/\.\d+(?=\.|$)/g, ''))))].sort(),
    [...new Set(known.map(last))].sort(),
  )
})
