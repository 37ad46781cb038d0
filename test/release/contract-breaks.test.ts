/** The comparison with the last release finds each kind of break in the real data, and lets additions pass. */

import t from 'tap'
import { breaksOf } from './contract/compare.ts'
import type { Contract } from './contract/contract.ts'
import { contractOf, releases } from './contract/releases.ts'
import type { Break } from './contract/schemas.ts'

const released = contractOf(releases().at(-1) ?? '')
const VERSION = '1.1.0'

type Json = Record<string, unknown>
type Path = readonly (string | number)[]

/** The object at a path of a contract. */
function at(contract: object, path: Path): Json {
  return path.reduce<unknown>((object, key) => (object as Json)[key], contract) as Json
}

/** The breaks if the members at the path have other values; undefined: a member is gone. */
function changed(path: Path, members: Json, before = onlyPart(path), version = VERSION): Break[] {
  const after = structuredClone(before)
  const object = at(after, path)
  for (const [key, value] of Object.entries(members))
    if (value !== undefined) object[key] = value
    else if (Array.isArray(object)) object.splice(Number(key), 1)
    else delete object[key]
  return breaksOf(before, after, version)
}

/** The contract without the other large parts, whose comparison takes a hundred times as long. */
function onlyPart([part = '']: Path): Contract {
  const { names } = released
  const none: Contract = { configuration: {}, api: { paths: {}, components: {} }, commands: [], names }
  return { ...none, [part]: at(released, [part]) }
}

const GATEWAY = ['configuration', 'gateway', 'properties']
const TRUSTED = [...GATEWAY, 'trusted_proxies']
const LIMITS = [...GATEWAY, 'limits', 'properties']
const SEATS = ['api', 'paths', '/v1/seats']
const BODY = [...SEATS, 'post', 'requestBody', 'content', 'application/json', 'schema']
const SEAT = ['api', 'components', 'schemas', 'Seat']
const start = released.commands.findIndex(({ name }) => name === 'start')
const check = released.commands.findIndex(({ name }) => name === 'check')
const explain = released.commands.findIndex(({ name }) => name === 'explain')

const BREAKS: readonly [what: string, path: Path, members: Json, name: string, message: RegExp][] = [
  ['a key', GATEWAY, { redis: undefined }, 'gateway: redis', /gone/],
  ['a nested key', LIMITS, { max_body: undefined }, 'gateway: limits.max_body', /gone/],
  ['a type', TRUSTED, { type: 'string' }, 'gateway: trusted_proxies', /type array/],
  ['a minimum of items', TRUSTED, { minItems: 9 }, 'gateway: trusted_proxies', /minItems/],
  ['a duration', [...GATEWAY, 'drain'], { range: ['1m', '2m'] }, 'gateway: drain', /range/],
  ['a default', [...GATEWAY, 'drain'], { default: '99s' }, 'gateway: drain', /default/],
  ['a list of values', [...GATEWAY, 'store'], { enum: ['a'] }, 'gateway: store', /only some values/],
  ['a pattern', [...GATEWAY, 'store'], { pattern: '^x' }, 'gateway: store', /pattern/],
  ['a required key', ['configuration', 'gateway'], { required: ['redis'] }, 'gateway: redis', /required/],
  [
    'a key of the tables',
    ['configuration', 'routes', 'properties'],
    { cors: undefined },
    'routes: cors',
    /gone/,
  ],
  ['a file', ['configuration'], { policy: undefined }, 'policy: cases', /gone/],
  ['a path', ['api', 'paths'], { '/v1/seats': undefined }, 'api: GET /v1/seats', /gone/],
  ['a method', SEATS, { post: undefined }, 'api: POST /v1/seats', /gone/],
  ['a permission', [...SEATS, 'get'], { 'x-seatgate-permission': 'x:y' }, 'api: GET /v1/seats', /permission/],
  ['an operationId', [...SEATS, 'get'], { operationId: 'seats' }, 'api: GET /v1/seats', /operationId/],
  ['a parameter', [...SEATS, 'get'], { parameters: [] }, 'api: GET /v1/seats header Space', /gone/],
  [
    'a required member of a body',
    BODY,
    { required: ['name', 'spaces', 'permissions', 'extra'] },
    'api: POST /v1/seats body.extra',
    /required/,
  ],
  [
    'a member of a body',
    [...BODY, 'properties'],
    { spaces: undefined },
    'api: POST /v1/seats body.spaces',
    /gone/,
  ],
  [
    'a length',
    [...BODY, 'properties', 'name'],
    { maxLength: 20 },
    'api: POST /v1/seats body.name',
    /maxLength/,
  ],
  ['a body', [...SEATS, 'post'], { requestBody: undefined }, 'api: POST /v1/seats body', /gone/],
  ['a response', [...SEATS, 'get', 'responses'], { '200': undefined }, 'api: GET /v1/seats 200', /gone/],
  [
    'a header',
    [...SEATS, 'post', 'responses', '200', 'headers'],
    { ETag: undefined },
    'api: POST /v1/seats 200 ETag',
    /gone/,
  ],
  ['a member of a response', [...SEAT, 'properties'], { name: undefined }, 'api: Seat.name', /gone/],
  ['a member that may be absent', SEAT, { required: ['id'] }, 'api: Seat.name', /absent/],
  [
    'a type of a response',
    [...SEAT, 'properties', 'name'],
    { type: ['string', 'null'] },
    'api: Seat.name',
    /null/,
  ],
  [
    'a format of a response',
    [...SEAT, 'properties', 'created_at'],
    { format: 'date' },
    'api: Seat.created_at',
    /format/,
  ],
  ['a command', ['commands'], { [start]: undefined }, 'seatgate start', /gone/],
  ['an option', ['commands', check, 'options'], { strict: undefined }, 'seatgate check --strict', /gone/],
  [
    'a flag',
    ['commands', check, 'options', 'strict'],
    { value: 'X' },
    'seatgate check --strict',
    /takes a value/,
  ],
  [
    'a required option',
    ['commands', check, 'options', 'config'],
    { required: true },
    'seatgate check --config',
    /required/,
  ],
  [
    'a default of an option',
    ['commands', check, 'options', 'config'],
    { default: 'x' },
    'seatgate check --config',
    /default/,
  ],
  [
    'an option with one value',
    ['commands', explain, 'options', 'seat'],
    { multiple: false },
    'seatgate explain --seat',
    /one value/,
  ],
  ['an argument', ['commands', explain], { positionals: [] }, 'seatgate explain argument 1', /gone/],
  ['an exit code', ['commands', check], { exits: ['0', '2'] }, 'seatgate check exit code 1', /gone/],
  [
    'a log field',
    ['names'],
    { log: released.names.log.filter((name) => name !== 'route') },
    'log field route',
    /gone/,
  ],
  ['an event', ['names'], { events: [] }, 'log event signed_in', /gone/],
  ['a header for upstreams', ['names'], { headers: [] }, 'header x-seatgate-user', /gone/],
  ['a warning', ['names'], { warnings: [] }, 'warning secret_literal', /gone/],
  [
    'a metric',
    ['names', 'metrics'],
    { seatgate_requests_total: undefined },
    'metric seatgate_requests_total',
    /gone/,
  ],
  [
    'a type of a metric',
    ['names', 'metrics', 'seatgate_requests_total'],
    { type: 'gauge' },
    'metric seatgate_requests_total',
    /counter/,
  ],
  [
    'a label',
    ['names', 'metrics', 'seatgate_requests_total'],
    { labels: ['route'] },
    'metric seatgate_requests_total label status',
    /gone/,
  ],
  ['a code', ['names', 'errors'], { token_expired: undefined }, 'error token_expired', /gone/],
  ['a status', ['names', 'errors'], { token_expired: 403 }, 'error token_expired', /401 is now 403/],
]

for (const [what, path, members, name, message] of BREAKS)
  t.test(`${what} breaks the promise`, async (t) => {
    const breaks = changed(path, members)
    t.ok(
      breaks.some((each) => each.name === name && message.test(each.what)),
      `${name} in ${JSON.stringify(breaks.slice(0, 5))}`,
    )
  })

const ADDITIONS: readonly [what: string, path: Path, members: Json][] = [
  ['a key', GATEWAY, { added: { type: 'string' } }],
  ['a wider duration', [...GATEWAY, 'drain'], { range: ['0ms', '30d'] }],
  ['a further type', TRUSTED, { type: ['array', 'string'] }],
  ['a path', ['api', 'paths'], { '/v1/added': {} }],
  ['an optional member of a body', [...BODY, 'properties'], { added: { type: 'string' } }],
  ['a member of a response', [...SEAT, 'properties'], { added: { type: 'string' } }],
  ['an option', ['commands', start, 'options'], { added: {} }],
  ['an exit code', ['commands', check], { exits: ['0', '1', '2', '3', '4'] }],
  ['a log field', ['names'], { log: [...released.names.log, 'added'] }],
  ['a label', ['names', 'metrics', 'seatgate_requests_total'], { labels: ['route', 'status', 'added'] }],
  ['a metric', ['names', 'metrics'], { seatgate_added: { type: 'gauge', labels: [] } }],
  ['a code', ['names', 'errors'], { added: 400 }],
]

for (const [what, path, members] of ADDITIONS)
  t.test(`${what} may be added`, async (t) => t.same(changed(path, members), []))

t.test('nothing differs from itself', async (t) => t.same(breaksOf(released, released, VERSION), []))

t.test('no key, command, metric or code can vanish', async (t) => {
  let count = 0
  const eachOf = (path: Path) => {
    const before = onlyPart(path)
    for (const key of Object.keys(at(released, path))) {
      count++
      t.ok(changed(path, { [key]: undefined }, before).length > 0, [...path, key].join('.'))
    }
  }
  const keysIn = (path: Path) => {
    const schema = at(released, path)
    if ('properties' in schema) {
      eachOf([...path, 'properties'])
      for (const key of Object.keys(at(schema, ['properties']))) keysIn([...path, 'properties', key])
    }
    for (const key of ['items', 'additionalProperties'])
      if (typeof schema[key] === 'object') keysIn([...path, key])
  }
  for (const file of Object.keys(released.configuration)) keysIn(['configuration', file])
  for (const path of [['commands'], ['names', 'metrics'], ['names', 'errors'], ['api', 'paths']]) eachOf(path)
  released.commands.forEach((_, index) => eachOf(['commands', index, 'options']))
  t.comment(`${count} removals`)
  t.ok(count > 700, `${count} removals`)
})

t.test('what the last release withdraws may be gone in the version that it names', async (t) => {
  const before = structuredClone(released)
  const withdrawn = { since: '1.0.0', until: '2.0.0', instead: '' }
  const names = ['gateway: redis', 'seatgate lint', 'api: GET /v1/seats']
  Object.assign(before.names, { withdrawn: names.map((name) => ({ ...withdrawn, name })) })
  t.same(changed(GATEWAY, { redis: undefined }, before, '1.9.0'), [
    { name: 'gateway: redis', what: 'it is gone' },
  ])
  t.same(changed(GATEWAY, { redis: undefined }, before, '2.0.0'), [])
  t.same(changed(SEATS, { get: undefined }, before, '2.0.0'), [])
  t.equal(changed(SEATS, { post: undefined }, before, '2.0.0').length, 1)
  t.equal(
    changed(GATEWAY, { redis: undefined }, released, '2.0.0').length,
    1,
    'a major version alone is no reason',
  )
})
