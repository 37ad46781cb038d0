/** Many warnings of `seatgate check` on one screen, and codes that a table accepts as a whole. */

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { CONFIG, folderWith, ROUTES } from './command-line.ts'
import { seatgateHere } from './in-process.ts'

/** Each pair crosses. */
const pairs = (count: number, first = 0) =>
  Array.from(
    { length: count },
    (_, at) =>
      `  GET /s${first + at}/{x}: a:read\n  GET /{y}/e${first + at}: ${at % 3 === 0 ? 'public' : 'b:list'}\n`,
  ).join('')

const TABLE = 'upstream: trainings\nroutes:\n'

t.test('many crossings are grouped', async (t) => {
  const cwd = folderWith(t, { 'gateway.config.yaml': CONFIG, 'routes/a.yaml': TABLE + pairs(6) })
  const check = (...args: string[]) => seatgateHere(cwd, ['check', ...args])
  const { code, out, err } = await check()
  t.equal(code, 0)
  t.equal(out, 'gateway.config.yaml: no faults, 36 warnings (12 routes, 1 upstream)\n')
  const lines = err.trimEnd().split('\n')
  t.match(lines[0], /^warning crossing_entries: some requests .* \(36\)$/)
  t.match(err, '\n  a:read before b:list (24)\n    GET /s0/{x} before /{y}/e1 (routes/a.yaml:3)\n')
  t.match(err, '\n  a:read before public (12)\n')
  t.match(lines.at(-1), '# seatgate: accept CODE')
  t.ok(lines.length <= 47, 'one screen, with the summary')
  t.equal(JSON.parse((await check('--format', 'json')).out).warnings.length, 36)
  t.equal((await check('--strict')).code, 3)

  writeFileSync(join(cwd, 'routes/a.yaml'), TABLE + pairs(3))
  t.equal(
    (await check()).err.split('\n').filter((line) => /^routes\/a\.yaml:\d+:3: warning: /.test(line)).length,
    9,
  )
})

t.test('faults come last, and a summary always', async (t) => {
  const config = `# seatgate: accept nothing\n${CONFIG}`.replace('acme:', 'acme: # x\n   ')
  const cwd = folderWith(t, { 'gateway.config.yaml': config, 'routes/a.yaml': ROUTES })
  const check = await seatgateHere(cwd, ['check'])
  t.equal(check.code, 1)
  t.equal(check.out, '')
  t.match(check.err, /^gateway\.config\.yaml:1:20: .*\ngateway\.config\.yaml: 1 fault\n$/)
})

t.test('a table accepts a code as a whole', async (t) => {
  const accept = '# seatgate: accept crossing_entries\n'
  const cwd = folderWith(t, { 'gateway.config.yaml': CONFIG, 'routes/a.yaml': '', 'routes/b.yaml': ROUTES })
  const warnings = async (table: string, other = ROUTES, config = CONFIG) => {
    writeFileSync(join(cwd, 'gateway.config.yaml'), config)
    writeFileSync(join(cwd, 'routes/a.yaml'), table)
    writeFileSync(join(cwd, 'routes/b.yaml'), other)
    const { out } = await seatgateHere(cwd, ['check', '--format', 'json'])
    const found = JSON.parse(out).warnings as { file: string; code: string }[]
    return [...new Set(found.map(({ file, code }) => `${file} ${code}`))]
  }
  const crossing = ['routes/a.yaml crossing_entries']
  const routes = `routes:\n${pairs(1)}`
  t.same(await warnings(`upstream: trainings\n${routes}`), crossing)
  t.same(await warnings(`upstream: trainings\n${accept}${routes}`), [])
  t.same(await warnings(`${accept}\nupstream: trainings\n\n${routes}`), [], 'at the beginning of the file')
  t.same(await warnings(`upstream: trainings\nroutes:\n  ${accept}\n${pairs(1)}`), crossing, 'behind it')
  t.same(await warnings(`${routes}${accept}upstream: trainings\n`), crossing, 'at the end')
  t.same(
    await warnings(`upstream: trainings\n${accept.replace('crossing_entries', 'ops_open')}${routes}`),
    crossing,
  )
  const config = CONFIG.replace('routes:', `${accept}routes:`)
  t.same(
    await warnings(`upstream: trainings\n${routes}`, ROUTES, config),
    crossing,
    'the main file is no table',
  )
  t.same(
    await warnings(`upstream: trainings\n${accept}routes:\n${pairs(12)}`, TABLE + pairs(1, 100)),
    ['routes/b.yaml crossing_entries'],
    'those that a table accepts hide none of another',
  )
})

t.test('a table that is imported accepts the crossings of its description', async (t) => {
  const api = (paths: string) => `openapi: 3.1.0\npaths: {${paths} }\n`
  const cwd = folderWith(t, {
    'gateway.config.yaml': CONFIG,
    'cross.yaml': api(' "/a/{x}": { get: {} }, "/{y}/b": { get: {} }'),
    'none.yaml': api(' /d: { get: {} }'),
    'routes/x.txt': '',
  })
  const made = async (file: string) => {
    const args = ['import', 'openapi', file, '--upstream', 'trainings', '--out', `routes/${file}`]
    t.match(await seatgateHere(cwd, args), { code: 0, err: '' })
    return readFileSync(join(cwd, 'routes', file), 'utf8')
  }
  t.match(await made('cross.yaml'), '\n# seatgate: accept crossing_entries\nroutes:\n')
  t.match(await seatgateHere(cwd, ['check', '--strict']), { code: 0, err: '' })
  t.notMatch(await made('none.yaml'), 'accept')
})
