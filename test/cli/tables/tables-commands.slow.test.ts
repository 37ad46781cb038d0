/** `seatgate tables` against a gateway whose route tables are in the store. */

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { startPushed, tableOf } from '../../tables/pushing.ts'
import { startWorld } from '../../support/world.ts'
import { afar } from '../remote/from-afar.ts'

async function pushed(t: Test) {
  const { gateway, pusher, key } = await startPushed(t)
  const { folder, run, done } = afar(t, gateway, key, { 'routes/main.yaml': tableOf('public') })
  const write = (name: string, text: string) => writeFileSync(join(folder, 'routes', name), text)
  const versions = async () => {
    const { versions } = (await pusher.read()).json
    return versions.map(({ version }: { version: number }) => version)
  }
  return { gateway, pusher, folder, run, done, write, versions }
}

/** A person who answers each question in this way. */
function person(answer: string) {
  const questions: string[] = []
  const ask = async (question: string) => {
    questions.push(question)
    return answer
  }
  return { questions, ask }
}

t.test('plan, push, history and rollback', async (t) => {
  const { pusher, run, done, write, versions } = await pushed(t)
  await pusher.send('POST', '/v1/seats', { name: 'Reader', spaces: ['s'], permissions: ['a:read'] })

  const until = new Date(Date.now() + 3_600_000).toISOString()
  t.match(await pusher.send('POST', '/v1/grants', { user: 'anna', seat: 'Reader', until }), { status: 200 })
  t.match(await pusher.send('POST', '/v1/api-keys', { name: 'nightly', seats: ['Reader'] }), { status: 200 })

  t.match(await run(['tables', 'history']), { code: 0, out: 'no tables were pushed\n' })
  const plan = await run(['tables', 'plan', 'routes'])
  t.match(plan, { code: 3, err: '', out: /^became_public  GET \/gate\n  old  no entry \(404\)\n/ })
  t.match(await run(['tables', 'plan', 'routes', '--markdown']), {
    code: 3,
    out: /^### Route tables: 1 difference/,
  })
  t.match(JSON.parse((await run(['tables', 'plan', 'routes/', '--json'])).out), {
    equal: false,
    hash: /^[0-9a-f]{12}$/,
    changes: [{ kind: 'became_public' }],
  })
  t.match(plan.out, /\n {2}gain Reader, admin\n {2}gain users anna\n {2}gain API keys \S+, nightly\n/)
  t.same(await versions(), [], 'a plan changes nothing')

  const unasked = await run(['tables', 'push', 'routes'])
  t.equal(unasked.code, 1)
  t.match(unasked.err, 'nothing was written: routes would replace version 0, which needs --yes')
  const no = person('n')
  t.match(await run(['tables', 'push', 'routes'], {}, no), { code: 1, err: /nothing was written/ })
  t.same(no.questions, ['Push routes in place of version 0? (yes/no) '])
  t.same(await versions(), [])

  const first = await run(['tables', 'push', 'routes'], {}, person('yes'))
  t.match(first, { code: 0, err: '' })
  t.match(first.out, plan.out, 'the plan comes first')
  t.match(
    first.out,
    /became_public\n\nactive: version 1, hash [0-9a-f]{12}, after \d+ ms at 1 gateway\n\ngateway +answer +after +cut\n\S.* +acknowledged +[\d.]+ ms +0\n$/,
  )
  t.match(await run(['tables', 'plan', 'routes']), { code: 0, out: /the tables are equal/ })
  const again = await run(['tables', 'push', 'routes'])
  t.match(again, { code: 0, out: /active: version 1,/ }, 'the same files need no --yes')

  write('main.yaml', tableOf('a:read'))
  write('more.yml', tableOf('authenticated', '/more'))
  const { changes, version } = JSON.parse(await done('tables', 'push', 'routes', '--yes', '--json'))
  t.equal(version, 2)
  t.match(changes, [{ kind: 'added' }, { kind: 'tightened', seats: { gain_count: 0 } }])
  t.notOk('users' in changes[0], 'a push does not read all users')
  t.match(
    await done('tables', 'history'),
    /^version +at +hash +routes +by\n2 +\S+Z +[0-9a-f]{12} +2 +\S+\n1 +\S+Z +[0-9a-f]{12} +1 +\S+\n$/,
  )
  const { data } = JSON.parse(await done('tables', 'history', '--limit', '1', '--json'))
  t.match(data, [{ version: 2, entries: 2, created_by: { kind: 'api-key' } }])

  t.match(await run(['tables', 'rollback', '1']), {
    code: 1,
    err: /the files of version 1 would replace version 2/,
  })
  const back = await run(['tables', 'rollback', '1', '--yes'])
  t.match(back, { code: 0, out: /^became_public[^]*\nactive: version 3,/ })
  t.match((await pusher.read()).json, { version: 3, files: { 'main.yaml': tableOf('public') } })
  const none = await run(['tables', 'rollback', '9', '--yes'])
  t.match(none, { code: 1, out: '', err: /404 tables_not_found/ })
})

t.test('faults come with the places of the files', async (t) => {
  const { run, write, versions } = await pushed(t)
  write('main.yaml', 'upstream: mian\nroutes:\n  GET /gate: a:*\n')
  const plan = await run(['tables', 'plan', 'routes'])
  t.equal(plan.code, 1)
  t.equal(plan.out, '')
  t.match(plan.err, /^routes\/main\.yaml:1:11: .*did you mean[^\n]*\nroutes\/main\.yaml:3:14: /)
  t.match(
    plan.err,
    /\nseatgate tables plan: nothing was changed: 2 faults \(409 tables_refused, request \S+\)\n$/,
  )
  const push = await run(['tables', 'push', 'routes', '--yes'])
  t.match(push, { code: 1, out: '', err: /^routes\/main\.yaml:1:11: / })
  t.same(await versions(), [])
})

t.test('a push on a version that is not active any more', async (t) => {
  const { pusher, run, versions } = await pushed(t)
  const between = {
    ask: async () => {
      await pusher.push({ 'other.yaml': tableOf('authenticated', '/other') })
      return 'yes'
    },
  }
  const { code, err } = await run(['tables', 'push', 'routes'], {}, between)
  t.equal(code, 1)
  t.match(err, /another push came between, and nothing was changed: plan again \(request \S+\)\n$/)
  t.same(await versions(), [1])
})

t.test('pull', async (t) => {
  const { pusher, folder, run, done, write } = await pushed(t)
  t.match(await run(['tables', 'pull', 'new']), { code: 1, err: /no tables were pushed/ })
  t.notOk(existsSync(join(folder, 'new')))
  const files = { 'a.yaml': tableOf('public'), 'b.yml': `\uFEFF# Ünïcode\n${tableOf('authenticated', '/b')}` }
  t.match(await pusher.push({ 'a.yaml': tableOf('authenticated') }), { status: 200 })
  t.match(await pusher.push(files), { status: 200 })
  const contents = (name: string) =>
    Object.fromEntries(
      readdirSync(join(folder, name)).map((file) => [file, readFileSync(join(folder, name, file), 'utf8')]),
    )

  t.equal(await done('tables', 'pull', 'deep/new'), 'deep/new has version 2: 2 files written\n')
  t.same(contents('deep/new'), files)
  t.equal(await done('tables', 'pull', 'deep/new'), 'deep/new has version 2: 2 files unchanged\n')
  t.match(await run(['tables', 'push', 'deep/new']), { code: 0, out: /active: version 2,/ }, 'and back')

  const older = ['tables', 'pull', 'deep/new', '--version', '1']
  t.match(await run(older), {
    code: 1,
    err: /nothing was written: a file differs in deep\/new, a\.yaml; --force/,
  })
  t.same(contents('deep/new'), files)
  t.match(await run([...older, '--force']), { code: 0, out: /version 1: 1 file written, 1 file removed\n$/ })
  t.same(contents('deep/new'), { 'a.yaml': tableOf('authenticated') })

  write('notes.txt', 'kept')
  write('.hidden.yaml', 'kept')
  rmSync(join(folder, 'routes/main.yaml'))
  write('extra.yaml', 'upstream: main\n')
  t.match(await run(['tables', 'pull', 'routes']), {
    code: 1,
    err: /extra\.yaml in routes would be removed, which needs --force/,
  })
  t.match(await run(['tables', 'pull', 'routes'], {}, person('no')), { code: 1 })
  t.same(Object.keys(contents('routes')).sort(), ['.hidden.yaml', 'extra.yaml', 'notes.txt'])
  const asked = person('yes')
  t.match(await run(['tables', 'pull', 'routes'], {}, asked), { code: 0 })
  t.match(asked.questions, ['Remove extra.yaml from routes, which version 2 does not have? (yes/no) '])
  t.same(Object.keys(contents('routes')).sort(), ['.hidden.yaml', 'a.yaml', 'b.yml', 'notes.txt'])
})

t.test('pull writes nothing outside the folder', async (t) => {
  const { pusher, folder, run } = await pushed(t)
  await pusher.push({ 'a.yaml': tableOf('public') })
  writeFileSync(join(folder, 'outside'), 'kept')
  mkdirSync(join(folder, 'links'))
  symlinkSync('../outside', join(folder, 'links/a.yaml'))
  const { code, err } = await run(['tables', 'pull', 'links', '--force'])
  t.match({ code, err }, { code: 1, err: /links\/a\.yaml is not a regular file/ })
  t.equal(readFileSync(join(folder, 'outside'), 'utf8'), 'kept')
  t.match(await run(['tables', 'pull', 'outside']), { code: 1, err: /outside cannot be read as a folder/ })
})

t.test('what is no set of files', async (t) => {
  const { folder, run, write, versions } = await pushed(t)
  const refused = async (name: string, err: RegExp) => {
    const ran = await run(['tables', 'push', name, '--yes'])
    t.match(ran, { code: 1, out: '', err }, name)
  }
  mkdirSync(join(folder, 'empty'))
  writeFileSync(join(folder, 'empty/.a.yaml'), 'x')
  await refused('empty', /empty has no \.yaml or \.yml file/)
  await refused('nowhere', /nowhere cannot be read as a folder/)
  await refused('routes/main.yaml', /cannot be read as a folder/)
  write('a b.yaml', 'x')
  await refused('routes', /routes\/a b\.yaml has a name that a version cannot have/)
  rmSync(join(folder, 'routes/a b.yaml'))
  writeFileSync(join(folder, 'routes/latin.yaml'), Buffer.from([0x23, 0xe9, 0x0a]))
  await refused('routes', /routes\/latin\.yaml cannot be read/)
  rmSync(join(folder, 'routes/latin.yaml'))
  mkdirSync(join(folder, 'routes/folder.yaml'))
  await refused('routes', /routes\/folder\.yaml cannot be read/)
  rmSync(join(folder, 'routes/folder.yaml'), { recursive: true })
  write('large.yaml', `# ${'x'.repeat(1024 * 1024)}\n`)
  await refused('routes', /routes\/large\.yaml is too large: 1 MiB at most/)
  for (let at = 0; at < 9; at++) write(`${at === 0 ? 'large' : at}.yaml`, `# ${'x'.repeat(1_000_000)}\n`)
  await refused('routes', /the files in routes are too large/)
  t.same(await versions(), [])
})

t.test('where the tables are in files', async (t) => {
  const world = await startWorld(t)
  const { run } = afar(t, world, world.keys['acme'] ?? '', { 'routes/a.yaml': tableOf('public') })
  for (const args of [
    ['push', 'routes', '--yes'],
    ['plan', 'routes'],
    ['history'],
    ['pull', 'new'],
    ['rollback', '1'],
  ])
    t.match(await run(['tables', ...args]), { code: 1, out: '', err: /409 tables_in_files/ }, `${args}`)
})
