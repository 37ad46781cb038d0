/** `seatgate import openapi`, and the table that it makes. */

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { CONFIG, folderWith } from './command-line.ts'
import { seatgateHere } from './in-process.ts'

const DESCRIPTION = `openapi: 3.0.3
info: { title: Trainings, version: "2" }
servers: [{ url: https://api.example/v1 }]
security: [{ key: [] }]
paths:
  /trainings:
    get: { summary: All trainings }
    post: {}
  /trainings/{id}.json:
    get: {}
  /docs:
    get: { security: [] }
`

t.test('a table that the gateway loads', async (t) => {
  const cwd = folderWith(t, { 'gateway.config.yaml': CONFIG, 'api.yaml': DESCRIPTION, 'routes/x.txt': '' })
  const run = (...args: string[]) =>
    seatgateHere(cwd, ['import', 'openapi', 'api.yaml', '--upstream', 'trainings', ...args])
  const printed = await run()
  t.equal(printed.code, 0)
  t.equal(
    printed.err,
    'api.yaml:10:5: GET /trainings/{id}.json: left out: "{id}.json": a parameter must be a whole segment, {name}, of letters, digits, _ and -\n',
  )
  const made = await run('--out', 'routes/trainings.yaml')
  t.equal(made.out, 'routes/trainings.yaml: 3 entries\n')
  t.equal(readFileSync(join(cwd, 'routes/trainings.yaml'), 'utf8'), printed.out)
  t.match(await seatgateHere(cwd, ['check']), { code: 0, out: /no faults \(3 routes, 1 upstream\)/ })
  t.match(await run('--out', 'routes/trainings.yaml'), { code: 1, err: /exists already: --update adds/ })
  t.match(await run('--out', 'routes/trainings.yaml', '--check'), {
    code: 0,
    out: /each of 3 operations that were taken has its entry; the line above says/,
  })
  t.equal((await run('--out', 'routes/trainings.yaml', '--check', '--strict')).code, 3)
  t.equal((await run('--strict')).code, 3)

  writeFileSync(join(cwd, 'api.yaml'), `${DESCRIPTION}    put: {}\n`)
  t.match(await run('--out', 'routes/trainings.yaml', '--check'), {
    code: 3,
    out: 'routes/trainings.yaml: no entry for PUT /v1/docs (docs:update)\n',
  })
  t.equal((await run('--out', 'routes/trainings.yaml', '--update')).code, 0)
  t.equal((await run('--out', 'routes/trainings.yaml', '--check')).code, 0)
})

t.test('a table with a prefix', async (t) => {
  const api = 'openapi: 3.1.0\npaths: { /code/a: { get: {} }, /code/b: { get: {} }, /c: { get: {} } }\n'
  const kept = 'upstream: u\nprefix: /code\nroutes:\n  GET /a: a:list\n'
  const stripped = 'upstream: u\nprefix: /code\nstrip_prefix: true\nroutes:\n  GET /code/a: a:list\n'
  const cwd = folderWith(t, { 'api.yaml': api, 'kept.yaml': kept, 'stripped.yaml': stripped })
  const run = (...args: string[]) =>
    seatgateHere(cwd, ['import', 'openapi', 'api.yaml', '--upstream', 'u', '--out', ...args])
  t.same(await run('kept.yaml', '--check'), {
    code: 3,
    out: "kept.yaml: no entry for GET /b (b:list)\nkept.yaml: GET /c is not behind the table's prefix\n",
    err: '',
  })
  t.equal((await run('kept.yaml', '--update')).code, 0)
  t.equal(readFileSync(join(cwd, 'kept.yaml'), 'utf8'), `${kept}  GET /b: b:list\n`)
  t.match(await run('stripped.yaml', '--update'), { code: 0, out: /no entry for GET \/code\/b/ })
  t.equal(
    readFileSync(join(cwd, 'stripped.yaml'), 'utf8'),
    `${stripped}  GET /code/b: b:list\n  GET /c: c:list\n`,
    'the service does not see the prefix',
  )
})

t.test('JSON, and faults', async (t) => {
  const json = JSON.stringify(
    { openapi: '3.1.0', paths: { '/a/{b}-{c}': { get: {} }, '/d': { get: {} } } },
    null,
    1,
  )
  const cwd = folderWith(t, { 'api.json': json, 'bad.yaml': 'a: [', 'other.yaml': 'a: 1' })
  const run = (file: string, ...args: string[]) =>
    seatgateHere(cwd, ['import', 'openapi', file, '--upstream', 'u', ...args])
  t.match(await run('api.json'), { code: 0, out: /^ {2}GET \/d: d:list$/m, err: /^api\.json:5:4: GET \/a/ })
  for (const [args, code, message] of [
    [['bad.yaml'], 1, 'bad.yaml:1:4: this [ is not closed: add ]'],
    [['other.yaml'], 1, 'other.yaml is no OpenAPI description: it has neither "openapi" nor "swagger"'],
    [['nowhere.yaml'], 1, 'nowhere.yaml cannot be read: ENOENT'],
    [
      ['api.json', '--out', 'no/where.yaml'],
      1,
      'no/where.yaml cannot be written: ENOENT (its folder does not exist: correct the path',
    ],
    [['api.json', '--out', 'other.yaml', '--check'], 1, 'other.yaml is no route table'],
    [['api.json', '--out', 'none.yaml', '--check'], 1, 'none.yaml cannot be read: ENOENT'],
    [['api.json', '--check'], 2, '--check needs --out'],
    [['api.json', '--permission', '{x}:y'], 2, 'has the unknown placeholder {x}'],
  ] as const) {
    const ran = await run(...(args as unknown as [string]))
    t.equal(ran.code, code, args.join(' '))
    t.match(ran.err, message)
  }
  t.equal((await seatgateHere(cwd, ['import', 'raml', 'x', '--upstream', 'u'])).code, 2)
})

t.test('whatever is not taken is listed with its place', async (t) => {
  const head = 'openapi: 3.1.0\npaths:\n'
  const item = 'components: { pathItems: { A: { get: {} } } }\n'
  const cwd = folderWith(t, {
    'beside.yaml': `${head}  /b:\n    $ref: "#/components/pathItems/A"\n    delete: {}\n${item}`,
    'more.yaml': `${head}  /b:\n    get: {}\n    additionalOperations:\n      COPY: {}\n`,
    'end.yaml': `${head}  /x/b:\n    get: {}\n  /b:\n    get:\n`,
    'twice.json': '\uFEFF{"openapi":"3.1.0","paths":{"/b":{"put":{}},\n"/b":{"get":{}}}}',
    'merge.yaml': `${head}  /b: { get: { <<: 7 } }\n`,
  })
  const run = (file: string, ...args: string[]) =>
    seatgateHere(cwd, ['import', 'openapi', file, '--upstream', 'u', ...args])
  for (const [file, place] of [
    ['beside.yaml', '5:5: DELETE /b: left out: '],
    ['more.yaml', '6:7: COPY /b: left out: '],
    ['end.yaml', '6:5: GET /b: left out: '],
    ['twice.json', '2:1: /b: the text has it twice: '],
  ] as const) {
    const out = `${file}.table`
    t.match(await run(file, '--out', out), { code: 0, err: `${file}:${place}` })
    t.equal((await run(file, '--out', out, '--update', '--strict')).code, 3, file)
    t.match(await run(file, '--out', out, '--check'), {
      code: 0,
      out: /that were taken .*; the line above says/,
    })
    t.equal((await run(file, '--out', out, '--check', '--strict')).code, 3, file)
  }
  t.equal((await run('merge.yaml')).err, 'merge.yaml:3:16: << merges maps alone\n')
})

t.test('a fault of syntax has its place', async (t) => {
  const faults = {
    'openapi: 3.1.0\npaths:\n  /a: {}\n  /a: {}\n': '4:3: the map has this key already',
    'a: 1\nb: "\\q"\n': '2:5: unknown escape in double quotes',
    'a: 1\n\tb: 1\n': '2:1: a tab in the indentation',
    'a: 1\n---\nb: 1\n': '2:1: a second document begins here',
    'a: 1\nb: [*x]\n': '2:5: an alias without an anchor',
    '{"a": 1,\n "b": {,}}': '2:8: unexpected character',
    '{"a": 1,\n "b": "c}': '2:7: this " is not closed',
    [`a: &a [1]\nb: [${'*a,'.repeat(2000)}]`]: '1:1: the aliases (*) in this file expand to too many values',
  }
  const cwd = folderWith(t, {})
  for (const [text, message] of Object.entries(faults)) {
    writeFileSync(join(cwd, 'f.yaml'), text)
    const { code, err } = await seatgateHere(cwd, ['import', 'openapi', 'f.yaml', '--upstream', 'u'])
    t.match({ code, err }, { code: 1, err: `f.yaml:${message}` })
    t.equal(err.trim().split('\n').length, 1, 'no line of the file')
  }
})

t.test('parameters with a pattern, of several frameworks', async (t) => {
  const paths = {
    '/users/{id:[0-9]+}': 'users/{id}',
    '/files/{p:path}': 'files/{p}',
    '/blobs/{p:.*}': 'blobs/*',
  }
  const lines = Object.keys(paths).map((path) => `  ${path}: { get: {} }\n`)
  const cwd = folderWith(t, { 'api.yaml': `openapi: 3.1.0\npaths:\n${lines.join('')}` })
  const run = (...args: string[]) =>
    seatgateHere(cwd, [
      'import',
      'openapi',
      'api.yaml',
      '--upstream',
      'u',
      '--permission',
      'x:{verb}',
      ...args,
    ])
  const { code, out, err } = await run('--strict')
  t.equal(code, 3)
  t.match(
    out,
    Object.values(paths)
      .map((path) => `  GET /${path}: x:read`)
      .join('\n'),
  )
  t.same(
    err.split('\n').map((line) => line.split(' counts as ')[0]),
    [
      'api.yaml:3:25: GET /users/{id:[0-9]+}: {id:[0-9]+}',
      'api.yaml:4:22: GET /files/{p:path}: {p:path}',
      '',
    ],
  )
  // As an earlier version made it: all of it is taken out.
  writeFileSync(join(cwd, 'old.yaml'), 'upstream: u\nroutes:\n  GET /users/*: x:read\n')
  t.match(await run('--out', 'old.yaml', '--check'), { code: 3, out: 'the description has no GET /users/*' })
  t.equal((await run('--out', 'old.yaml', '--update', '--prune')).code, 0)
  t.notMatch(readFileSync(join(cwd, 'old.yaml'), 'utf8'), '/users/*')
  t.equal((await run('--out', 'old.yaml', '--check')).code, 0)
  await run('--out', 'u.yaml')
  t.equal((await run('--out', 'u.yaml', '--check')).code, 0)
  t.equal((await run('--out', 'u.yaml', '--check', '--strict')).code, 3)
})

t.test('no entry that check refuses', async (t) => {
  const api = `openapi: 3.1.0
paths:
  /x/v1/users/{sub}: { get: {} }
  /v1/users/{sub}:
    get: {}
  /auth/oidc/login: { post: {} }
  /v1/things: { get: {} }
`
  const config = (place: string) => `${CONFIG}${place}`
  const cwd = folderWith(t, { 'gateway.config.yaml': CONFIG, 'api.yaml': api, 'routes/x.txt': '' })
  const run = (...args: string[]) =>
    seatgateHere(cwd, ['import', 'openapi', 'api.yaml', '--upstream', 'trainings', ...args])
  const collision = 'left out: collides with a built-in path'
  const made = await run('--out', 'routes/a.yaml')
  t.match(made, { code: 0, out: 'routes/a.yaml: 2 entries' })
  t.match(made.err, `api.yaml:5:5: GET /v1/users/{sub}: ${collision}`)
  t.match(made.err, `api.yaml:6:23: POST /auth/oidc/login: ${collision}`)
  t.match(await seatgateHere(cwd, ['check']), { code: 0, out: /no faults \(2 routes/ })
  t.match(await run('--out', 'routes/a.yaml', '--check'), { code: 0, out: /that were taken/ })

  writeFileSync(join(cwd, 'gateway.config.yaml'), config('api: { prefix: /_gate, auth_prefix: /_gate }\n'))
  t.match(await run('--out', 'routes/a.yaml', '--update'), {
    code: 0,
    err: /^api\.yaml: 1 permission has "trainings\." before the resource[^\n]*\n$/,
  })
  t.match(await seatgateHere(cwd, ['check']), { code: 0, out: /no faults \(4 routes/ })

  writeFileSync(join(cwd, 'gateway.config.yaml'), CONFIG)
  t.equal((await seatgateHere(cwd, ['check'])).code, 1)
  t.match(await run('--out', 'routes/a.yaml', '--update', '--prune'), {
    code: 0,
    out: /the description has no GET \/v1\/users\/\{sub\}: taken out/,
  })
  t.match(await seatgateHere(cwd, ['check']), { code: 0, out: /no faults \(2 routes/ })

  t.match(await run('--out', 'routes/b.yaml'), {
    code: 0,
    out: 'routes/b.yaml: 0 entries',
    err: /GET \/v1\/things: left out: matches the same requests as GET \/v1\/things \(routes\/a.yaml:/,
  })
  t.match(await seatgateHere(cwd, ['check']), { code: 0, out: /no faults \(2 routes/ })
  t.match(await run('--config', 'nowhere.yaml'), { code: 1, err: /nowhere\.yaml/ })
  t.equal((await run('--prune', '--out', 'routes/a.yaml')).code, 2)
})

t.test('entries without an operation are taken out', async (t) => {
  const api = 'openapi: 3.1.0\npaths: { /a: { get: {} } }\n'
  const table = `upstream: u
routes:
  # kept
  GET /own: own:read # goes

  # seatgate: accept crossing_entries
  # why
  # seatgate: accept wider_fallback
  GET /{x}/b:
    permission: x:y # goes
  GET /a: &a things:read # stays
  GET /c: *a
  GET /d: &d d:d
`
  const cwd = folderWith(t, {
    'api.yaml': api,
    'block.yaml': table,
    'flow.yaml': 'upstream: u\nroutes: { GET /a: a:x, GET /b: b:x }\n',
    'all.yaml': 'upstream: u\nroutes:\n  GET /b: b:x\n',
    'none.yaml': 'openapi: 3.1.0\n',
  })
  const prune = async (file: string, description = 'api.yaml') => {
    const args = ['import', 'openapi', description, '--upstream', 'u', '--out', file, '--update', '--prune']
    const ran = await seatgateHere(cwd, args)
    t.equal(ran.code, 0, ran.err)
    return { ...ran, text: readFileSync(join(cwd, file), 'utf8') }
  }
  const block = await prune('block.yaml')
  t.equal(
    block.text,
    'upstream: u\nroutes:\n  # kept\n\n  GET /a: &a things:read # stays\n  GET /d: &d d:d\n',
  )
  t.match(block.out, 'the description has no GET /own: taken out')
  t.match(block.out, 'the description has no GET /d: kept, as it has an anchor')
  t.equal((await prune('flow.yaml')).text, 'upstream: u\nroutes:\n  GET /a: a:x\n')
  t.equal((await prune('all.yaml', 'none.yaml')).text, 'upstream: u\nroutes: {}\n')
})
