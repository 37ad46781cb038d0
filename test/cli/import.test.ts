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
    [['bad.yaml'], 1, 'bad.yaml is neither YAML nor JSON'],
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
  t.match(await run('merge.yaml'), { code: 1, err: 'line 3, column 16: << merges maps alone' })
})
