/** `seatgate seats plan`, `apply` and `export`, on a gateway. */

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { startWorld } from '../../support/world.ts'
import { afar, signedIn } from './from-afar.ts'

const world = await startWorld(t)
const key = world.keys['acme'] ?? ''

const FILE = `tenant: acme
seats:
  Viewer: { spaces: [main], permissions: [trainings:list] }
  Editor:
    spaces: [main, lab]
    permissions: [trainings:list, trainings:create, trainings:reads]
`

t.test('plan, apply, and plan again', async (t) => {
  const { done, run, folder } = afar(t, world, key, { 'seats.yaml': FILE })
  const made = await run(['seats', 'plan', 'seats.yaml', '--out', 'saved.plan'])
  t.equal(made.code, 3, made.err)
  t.equal(
    made.out,
    `+ "Editor"
    + space main
    + space lab
    + permission trainings:list
    + permission trainings:create
    + permission trainings:reads
    gains 2 routes: GET /v1/trainings, POST /v1/trainings
+ "Viewer"
    + space main
    + permission trainings:list
    gains 1 route: GET /v1/trainings
tenant acme: 2 to create, 0 to change, 0 to delete, 0 as in the files
1 Seat in no file, left alone: admin
warning: Seat "Editor", permission 3: no route requires trainings:reads: perhaps
  trainings:read is meant (permission_unasked)
`,
  )
  t.match(await done('seats', 'apply', 'saved.plan'), /\napplied: 2 changes\n$/)
  const seats = JSON.parse(await done('seats', 'list', '--json')).data
  const again = await run(['seats', 'apply', 'saved.plan'])
  t.match(again, {
    code: 1,
    out: 'this plan was applied before: the Seats are as it says\n',
    err: /nothing was written, because a plan is applied once: plan again \(request /,
  })
  t.same(JSON.parse(await done('seats', 'list', '--json')).data, seats)
  t.match(await done('seats', 'plan', 'seats.yaml'), /^tenant acme: nothing to do, 2 Seats as in the files\n/)
  t.match(await done('seats', 'apply', 'seats.yaml'), 'nothing to do')
  t.match(JSON.parse(await done('seats', 'apply', 'seats.yaml', '--json')), {
    tenant: 'acme',
    changes: [],
    unchanged: 2,
  })

  await t.test('whom a change touches', async (t) => {
    const viewer = seats.find(({ name }: { name: string }) => name === 'Viewer').id
    await signedIn(world, { ann: 'ann@example.com', bob: 'bob@example.com' }, [viewer])
    await done('keys', 'create', 'nightly', '--seat', 'Viewer')
    writeFileSync(
      join(folder, 'renamed.yaml'),
      'tenant: acme\nseats: { Reader: { was: Viewer, spaces: [main], permissions: [] } }\n',
    )
    const { code, out } = await run(['seats', 'plan', 'renamed.yaml'])
    t.equal(code, 3)
    t.match(
      out,
      `~ "Reader", was "Viewer"
    - permission trainings:list
    held by 2 users and 1 API key (nightly)
    loses 1 route: GET /v1/trainings
tenant acme: 0 to create, 1 to change, 0 to delete, 0 as in the files
users are not exact: those whose latest sign-in carried the Seats
2 Seats in no file, left alone: Editor, admin
`,
    )
    await done('seats', 'apply', 'renamed.yaml')
    t.match(await done('seats', 'plan', 'renamed.yaml'), 'nothing to do', 'the former name stays')
  })

  await t.test('a Seat that changes between plan and apply', async (t) => {
    writeFileSync(
      join(folder, 'two.yaml'),
      'tenant: acme\nseats: { Editor: { spaces: [main], permissions: [] } }\n',
    )
    t.equal((await run(['seats', 'plan', 'two.yaml', '--out', 'two.plan'])).code, 3)
    await done('seats', 'update', 'Editor', '--add', 'files:read')
    t.match(await run(['seats', 'apply', 'two.plan']), {
      code: 1,
      err: /nothing was written, because Seats have changed since the plan: plan again/,
    })
    t.match(await done('seats', 'show', 'Editor'), 'files:read')
  })

  await t.test('a plan that was edited: what it shows may not be what it does', async (t) => {
    writeFileSync(
      join(folder, 'three.yaml'),
      'tenant: acme\nseats: { "1": { spaces: [], permissions: [] }, __proto__: { spaces: [], permissions: [] } }\n',
    )
    t.equal((await run(['seats', 'plan', 'three.yaml', '--out', 'three.plan'])).code, 3)
    const saved = JSON.parse(readFileSync(join(folder, 'three.plan'), 'utf8'))
    for (const edited of [
      { ...saved, body: { ...saved.body, prune: true } },
      { ...saved, plan: { ...saved.plan, changes: [] } },
      { ...saved, body: 5 },
      { seatgate_plan: saved.seatgate_plan },
    ]) {
      writeFileSync(join(folder, 'edited.plan'), JSON.stringify(edited))
      const ran = await run(['seats', 'apply', 'edited.plan'])
      t.match(ran, { code: 1, out: '', err: /edited\.plan was changed after it was written: plan again/ })
    }
    t.match(await done('seats', 'apply', 'three.plan'), 'applied: 2 changes')
    for (const name of ['1', '__proto__']) await done('seats', 'delete', name, '--yes')
  })

  await t.test('prune', async (t) => {
    writeFileSync(
      join(folder, 'few.yaml'),
      'tenant: acme\nseats: { admin: { spaces: [admin], permissions: ["*"] } }\n',
    )
    t.match(await run(['seats', 'plan', 'few.yaml', '--prune']), {
      code: 3,
      out: /- "Editor"\n[^]*- "Reader"\n/,
    })
    t.match(await run(['seats', 'apply', 'few.yaml', '--prune']), {
      code: 1,
      err: /2 Seats would be deleted, which needs --yes/,
    })
    t.equal(JSON.parse(await done('seats', 'list', '--json')).data.length, 3)
    t.match(await done('seats', 'apply', 'few.yaml', '--prune', '--yes'), 'applied: 2 changes')
    t.equal(JSON.parse(await done('seats', 'list', '--json')).data.length, 1)
    t.match(await run(['seats', 'apply', 'few.yaml', 'none.yaml', '--prune', '--yes']), { code: 1 })
  })
})

t.test('files that are refused, before anything is sent', async (t) => {
  const { run } = afar(t, { port: 9 }, key, {
    'a.yaml': FILE,
    'b.yaml': FILE.replaceAll('Editor', 'Other'),
    'globex.yaml': 'tenant: globex\nseats: {}\n',
    'broken.yaml': 'tenant: acme\nseats:\n  A: { space: [main], permissions: [x] }\n',
    'old.plan': '{"seatgate_plan": 9}',
  })
  const refused = async (...files: string[]) => {
    const ran = await run(['seats', 'apply', ...files])
    t.match(ran, { code: 1, out: '' })
    return ran.err
  }
  t.match(await refused('a.yaml', 'b.yaml'), /Seat "Viewer" is in a\.yaml and in b\.yaml: keep one/)
  t.match(
    await refused('a.yaml', 'globex.yaml'),
    /globex\.yaml is of tenant globex, and a\.yaml of tenant acme/,
  )
  t.match(await refused('broken.yaml'), /^broken\.yaml:3:\d+: /)
  t.match(await refused('none.yaml'), /^none\.yaml:1:1: /)
  t.match(await refused('old.plan'), /old\.plan is a plan of another version/)
  t.match(await run(['seats', 'apply', 'old.plan', '--prune']), { code: 1 })
})

t.test('a file of another tenant', async (t) => {
  const { run } = afar(t, world, key, { 'globex.yaml': 'tenant: globex\nseats: {}\n' })
  t.match(await run(['seats', 'plan', 'globex.yaml']), {
    code: 1,
    err: /400 input_invalid, request .*\n {2}tenant is not the tenant of the caller\n/,
  })
})

t.test('what is exported can be planned', async (t) => {
  for (const name of [
    '__proto__',
    'a: b',
    '"quoted"',
    "it's",
    '# none',
    '1',
    'true',
    'größer',
    '*',
    '&a',
    'x\u202ey',
    '\u2066a: "b\u2069',
    'c\u200ed',
    '<<',
    'Team ${x}',
    '$${HOME}',
    '${',
  ])
    await world.seat(name, ['main'], ['trainings:list'])
  await world.seat('Empty', [], [])
  const { done, folder } = afar(t, world, key)
  for (const more of [[], ['--json']]) {
    writeFileSync(join(folder, 'all.yaml'), await done('seats', 'export', ...more))
    t.match(
      await done('seats', 'plan', 'all.yaml', '--prune'),
      'nothing to do, 19 Seats as in the files',
      readFileSync(join(folder, 'all.yaml'), 'utf8'),
    )
  }
})

t.test('5,000 Seats', async (t) => {
  const { done, run, folder } = afar(t, world, key)
  const seats = Array.from({ length: 5000 }, (_, at) => [
    `Role ${at}`,
    {
      spaces: [`space-${at % 50}`],
      permissions: Array.from({ length: 5 + (at % 20) }, (_unused, each) => `t${each}:op`),
    },
  ])
  writeFileSync(
    join(folder, 'many.yaml'),
    JSON.stringify({ tenant: 'acme', seats: Object.fromEntries(seats) }),
  )
  const patience = ['--timeout', '5m']
  const planned = await run(['seats', 'plan', 'many.yaml', '--out', 'many.plan', ...patience])
  t.equal(planned.code, 3, planned.err)
  t.match(await done('seats', 'apply', 'many.plan', ...patience), 'applied: 5000 changes')
  t.match(await done('seats', 'plan', 'many.yaml', ...patience), 'nothing to do, 5000 Seats as in the files')
})
