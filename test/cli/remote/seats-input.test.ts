/** Where Seats of `seats plan` and `seats apply` come from: files, folders, standard input. */

import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { startWorld } from '../../support/world.ts'
import { afar } from './from-afar.ts'

const seats = (name: string) =>
  `tenant: acme\nseats: { ${name}: { spaces: [main], permissions: [trainings:list] } }\n`
const given = (text: string | Buffer) => ({ readInput: async () => Buffer.from(text) })

t.test('standard input', async (t) => {
  const world = await startWorld(t)
  const { run, folder } = afar(t, world, world.keys['acme'] ?? '', { 'a.yaml': seats('A') })
  const plan = ['seats', 'plan', '-']
  t.match(await run(plan, {}, given(seats('B'))), { code: 3, out: /^\+ "B"/, err: '' })
  t.match(await run([...plan, 'a.yaml'], {}, given(seats('B'))), { code: 3, out: /\+ "A"\n[^]*\+ "B"/ })
  t.match(await run(['seats', 'plan', 'a.yaml', '--json'], {}), { code: 3 })
  await run(['seats', 'plan', 'a.yaml', '--out', 'a.plan'])
  const saved = given(readFileSync(join(folder, 'a.plan')))
  t.match(
    await run(['seats', 'apply', '-'], {}, saved),
    { code: 0, out: /applied: 1 change/ },
    'a saved plan',
  )
  t.match(await run(['seats', 'apply', '-'], {}, saved), { code: 1, out: /^this plan was applied before/ })
  t.match(await run(['seats', 'apply', '-'], {}, given(seats('B'))), { code: 0, out: /applied: 1 change/ })
})

t.test('apply waits also where there is nothing to do, and asks nothing', async (t) => {
  const world = await startWorld(t)
  const { run } = afar(t, world, world.keys['acme'] ?? '', { 'a.yaml': seats('A') })
  const applications = () => world.log().filter(({ path }) => path === '/v1/seats/apply').length
  t.match(await run(['seats', 'apply', 'a.yaml']), { code: 0, out: /applied: 1 change/ })
  t.equal(applications(), 1)
  t.match(await run(['seats', 'apply', 'a.yaml']), { code: 0, out: /nothing to do/, err: '' })
  t.equal(applications(), 2)
})

t.test('faults of standard input have their places', async (t) => {
  const { run } = afar(t, { port: 9 }, 'sk_none', { 'a.yaml': seats('A') })
  for (const [text, err] of [
    ['', /^standard input:1:1: /],
    [
      'tenant: acme\nseats:\n  A: { spaces: [main], permissions: [x] }\n',
      /^standard input:3:\d+: .*permission/,
    ],
    [
      Buffer.from('tenant: acme\nseats: {} # \xff', 'latin1'),
      /^standard input:2:13: is not valid UTF-8 here/,
    ],
    [seats('A'), /Seat "A" is in a\.yaml and in standard input: keep one/],
  ] as const)
    t.match(await run(['seats', 'plan', 'a.yaml', '-'], {}, given(text)), { code: 1, out: '', err })
  for (const args of [
    ['-', '-'],
    ['-', '--api-key', '-'],
  ])
    t.match(await run(['seats', 'apply', ...args], {}, given(seats('A'))), {
      code: 2,
      out: '',
      err: /- is given twice/,
    })
})

t.test('folders', async (t) => {
  const world = await startWorld(t)
  const { run, folder } = afar(t, world, world.keys['acme'] ?? '', {
    'seats/b.yml': seats('B'),
    'seats/teams/c.json': JSON.stringify({ tenant: 'acme', seats: { C: { spaces: [], permissions: [] } } }),
    'seats/README.md': '# not Seats',
    'seats/.hidden/d.yaml': seats('D'),
    'wrong/a.yaml': seats('A'),
    'wrong/b.yaml': 'tenant: acme\nseat: {}\n',
    'none/README.md': '',
  })
  symlinkSync('.hidden/d.yaml', join(folder, 'seats/d.yaml'))
  const planned = await run(['seats', 'plan', 'seats', '--json'])
  t.same(
    JSON.parse(planned.out).changes.map(({ name }: { name: string }) => name),
    ['B', 'C', 'D'],
  )
  t.match(await run(['seats', 'apply', 'seats/']), { code: 0, out: /applied: 3 changes/ })
  t.match(await run(['seats', 'plan', 'seats']), { code: 0 })
  t.match(await run(['seats', 'plan', 'wrong']), { code: 1, out: '', err: /^wrong\/b\.yaml:\d+:\d+: / })
  t.match(await run(['seats', 'plan', 'none']), {
    code: 1,
    err: /none has no file that ends in \.yaml, \.yml or \.json/,
  })
  mkdirSync(join(folder, 'seats/loop'))
  symlinkSync('..', join(folder, 'seats/loop/up.yaml'))
  t.match(await run(['seats', 'plan', 'seats']), { code: 1, err: /up\.yaml:1:1: is a folder, not a file/ })
  writeFileSync(join(folder, 'x.txt'), seats('X'))
  t.match(await run(['seats', 'plan', 'x.txt']), { code: 3 }, 'a file that is named may be called anything')
})

t.test('a Seat that grants nothing is created with a note', async (t) => {
  const world = await startWorld(t)
  const { run } = afar(t, world, world.keys['acme'] ?? '')
  for (const [args, err] of [
    [[], 'note: the Seat grants nothing, because it has no space (--in) and no permission (--permission)\n'],
    [['--in', 'main'], 'note: the Seat grants nothing, because it has no permission (--permission)\n'],
    [['--in', 'main', '--permission', 'trainings:list'], ''],
  ] as const)
    t.match(await run(['seats', 'create', `Seat ${args.length}`, ...args]), {
      code: 0,
      err,
      out: /^created /,
    })
})
