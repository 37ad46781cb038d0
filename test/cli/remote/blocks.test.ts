/** `seatgate users block` and `users blocks`: a block that blocks no token is refused, and blocks can be seen, with their author. */

import t from 'tap'
import { openStore } from '../../../seats-admin/index.ts'
import { startWorld } from '../../support/world.ts'
import { writer } from '../../seats-admin/store/conformance.ts'
import { afar, signedIn } from './from-afar.ts'

const USERS = { anna: 'anna@example.com', anne: 'anne@example.com', bob: 'bob@elsewhere.example' }

t.test('blocks from afar', async (t) => {
  const world = await startWorld(t)
  const { run } = afar(t, world, world.keys['acme'] ?? '')
  t.match(await run(['users', 'blocks']), { code: 0, out: 'no blocks\n' })
  await signedIn(world, USERS, [])

  const misspelt = await run(['users', 'block', 'ana@example.com'])
  t.equal(misspelt.code, 1)
  t.match(
    misspelt.err,
    'no user with the address "ana@example.com" has signed in (did you mean "anna@example.com" or "anne@example.com"?)',
  )
  t.match(await run(['users', 'block', 'zoe@example.org']), { code: 1, err: /has signed in: with --sub/ })
  t.match(await run(['users', 'blocks']), { out: 'no blocks\n' }, 'nothing is blocked')
  t.match(await run(['users', 'block', 'bop', '--yes']), {
    code: 0,
    err: 'note: no sign-in of "bop" is known (did you mean "bob"?): it is taken as a sub\n',
  })
  t.match(await run(['users', 'unblock', 'bopp']), {
    code: 1,
    err: /"bopp" is not blocked \(did you mean "bop"\?\): "seatgate users blocks"/,
  })
  t.match(await run(['users', 'unblock', 'bop']), { code: 0 })
  t.match(await run(['users', 'unblock', 'zoe']), { code: 1, err: /"zoe" is not blocked: "seatgate users/ })

  t.match(await run(['users', 'block', 'anna@example.com', '--reason', 'left', '--until', '7d']), { code: 0 })
  t.match(await run(['users', 'block', 'zoe@example.org', '--sub']), {
    code: 0,
    out: 'blocked zoe@example.org\n',
  })
  t.match(await run(['users', 'unblock', 'ana@example.com']), {
    code: 1,
    err: /\(did you mean "anna@example.com"\?\)/,
  })
  const { out } = await run(['users', 'blocks'])
  t.match(out, /^user +origin +until +by +reason\n/)
  t.match(out, /^anna +admin +\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ +bootstrap +left$/m)
  t.match(out, /^zoe@example\.org +admin +bootstrap$/m)
  const { data } = JSON.parse((await run(['users', 'blocks', '--json'])).out)
  t.same(data.map(({ user, reason }: { user: string; reason?: string }) => [user, reason]).sort(), [
    ['anna', 'left'],
    ['zoe@example.org', undefined],
  ])
  await world.seat('Blocks alone', ['admin'], ['blocks:list'])
  const lister = await world.admin('POST', '/v1/api-keys', { name: 'lister', seats: ['Blocks alone'] })
  t.match(await afar(t, world, lister.json.key).run(['users', 'blocks']), {
    code: 0,
    out: /^zoe@example\.org +admin +[0-9A-HJKMNP-TV-Z]{15,26}/m,
  })
  t.match(await run(['users', 'unblock', 'zoe@example.org']), { code: 0 })
  const shown = await run(['seats', 'show', 'Blocks alone'])
  t.match(shown.out, /^created +\S+Z by bootstrap$/m, 'so is the author of a Seat')
  t.notMatch(shown.out, /updated/)
})

t.test('blocks of several origins', async (t) => {
  const world = await startWorld(t)
  const { run, done } = afar(t, world, world.keys['acme'] ?? '')
  const store = await openStore(world.config.store)
  t.teardown(() => store.close())
  const { scope } = writer()
  const provider = { tenant: 'acme', by: 'https://login.acme.example', scope, now: Date.now() }
  const block = { user: 'eve', until: null, reason: null, origin: 'events' } as const
  await store.createBlock(provider, block)
  await done('users', 'block', 'eve', '--sub', '--yes')
  t.match(
    await done('users', 'blocks'),
    /^eve +events +https:\/\/login\.acme\.example\neve +admin +bootstrap$/m,
  )
  t.match(await run(['users', 'unblock', 'eve']), {
    code: 1,
    err: '"eve" has blocks of events and admin: name one with --origin',
  })
  t.match(await run(['users', 'unblock', 'eve', '--origin', 'scim']), {
    code: 1,
    err: '"eve" has no block of scim, but of events and admin',
  })
  t.match(await run(['users', 'unblock', 'eve', '--origin', 'event']), {
    code: 2,
    err: /did you mean "events"/,
  })
  t.equal(
    await done('users', 'unblock', 'eve', '--origin', 'events'),
    'ended the block of events; eve is still blocked by admin\n',
  )
  t.equal(await done('users', 'unblock', 'eve'), 'unblocked eve\n')
  t.match(await run(['users', 'unblock', 'eve', '--origin', 'admin']), {
    code: 1,
    err: /"eve" is not blocked/,
  })
})
