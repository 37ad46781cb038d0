/** `seatgate revoke` against a gateway: the preview, the question, the answer, and what is refused before anything is done. */

import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { keyFile } from '../../identity/support.ts'
import { startWorld, type World } from '../../support/world.ts'
import { afar, signedIn } from '../remote/from-afar.ts'
import { seatgateHere } from '../in-process.ts'

const USERS = { anna: 'anna@example.com', bob: 'bob@elsewhere.example' }

async function signingWorld(t: Test) {
  const world = await startWorld(t, { top: [`identity: { keys: ["${keyFile(t)}"] }`] })
  await signedIn(world, USERS, [])
  return { world, ...afar(t, world, world.keys['acme'] ?? '') }
}

/** The ids of the revocations, the newest first. */
async function revocations(world: World): Promise<string[]> {
  const { json } = await world.admin('GET', '/v1/revocations')
  return json.data.map(({ id }: { id: string }) => id)
}

/** A person who answers each question in this way. */
function person(answer: string | null) {
  const questions: string[] = []
  return {
    questions,
    ask: async (question: string) => {
      questions.push(question)
      return answer
    },
  }
}

t.test('a user: the preview, the question, the answer and the receipt', async (t) => {
  const { world, run, folder, done } = await signingWorld(t)
  await world.seat('Viewer', ['main'], ['trainings:list'])
  const key = (await done('keys', 'create', 'hers', '--seat', 'Viewer', '--owner', 'anna@example.com')).trim()
  t.match(
    await done('keys', 'list', '--owner', 'anna'),
    /^id +name +owner +seats +state\n\w{26} +hers +anna +Viewer +in force\n$/,
  )
  t.match(await done('keys', 'list', '--owner', 'bob'), 'no API keys in force\n')
  const token = await world.token(['main:Viewer'], { sub: 'anna' })
  const status = async (headers: Readonly<Record<string, string>>) => {
    const { status, json } = await world.client.send('GET', '/v1/trainings', { ...headers, space: 'main' })
    return [status, json.code]
  }
  const [asUser, asKey] = [{ authorization: `Bearer ${token}` }, { 'x-api-key': key }]
  const args = ['revoke', 'user', 'anna@example.com', '--reason', 'laptop stolen']
  const preview =
    /^This revokes user "anna":\n {2}voids +every token issued until now; these are not counted\n {2}ends +0 sessions, 1 API key\n {2}cuts +0 WebSockets, 0 streams, 0 requests, at 1 gateway\n/

  const dry = await run([...args, '--dry-run'])
  t.match(dry, { code: 0, out: preview, err: '' })
  const unasked = await run(args)
  t.match(unasked, {
    code: 1,
    out: preview,
    err: /nothing was written: user "anna" would be revoked, which needs --yes/,
  })
  for (const answer of ['no', '']) {
    const at = person(answer)
    t.match(await run(args, {}, at), { code: 1, out: preview, err: /: nothing was written$/m })
    t.same(at.questions, ['Revoke user "anna"? (yes/no) '])
  }
  t.same(await revocations(world), [])
  t.same([await status(asUser), await status(asKey)].flat().filter(Number), [200, 200])

  const ran = await run([...args, '--receipt', 'a.receipt'], {}, person('yes'))
  t.equal(ran.code, 0, ran.err)
  t.match(ran.out, preview)
  const [id = '', ...others] = await revocations(world)
  t.same(others, [])
  t.match(
    ran.out,
    new RegExp(
      `^closed: user "anna" is revoked\\n +id +${id}\\n +voids +\\S.*Z\\n +ended +0 sessions, 1 API key$`,
      'm',
    ),
  )
  t.match(ran.out, /^ {2}receipt +a\.receipt$/m)
  t.equal([...ran.out.matchAll(/^ {2}reason +laptop stolen$/gm)].length, 2, 'in the preview and the answer')
  t.match(ran.out, /^gateway +answer +after +cut\n.+ +acknowledged +[\d.]+ ms +0$/m)
  t.same(await status(asUser), [401, 'token_revoked'])
  t.same(await status(asKey), [401, 'api_key_revoked'])
  const jwks = `http://127.0.0.1:${world.port}/.well-known/seatgate/jwks.json`
  const verified = await seatgateHere(folder, ['receipt', 'verify', 'a.receipt', '--jwks', jwks])
  t.match(verified, { code: 0, out: new RegExp(`^ {2}id +${id}$`, 'm') })

  t.match(await done('revoke', 'list'), new RegExp(`^id .*\\n${id} +\\S+Z +closed +user:anna\\n$`))
  t.match(await done('revoke', 'list', '--subject', 'user:bob'), 'no revocations\n')
  await done('revoke', 'show', id, '--receipt', 'again.receipt')
  const [first, second] = ['a', 'again'].map((name) => readFileSync(join(folder, `${name}.receipt`), 'utf8'))
  t.equal(second, first, 'the receipt can be had again')
  t.match(await run(['revoke', 'show', '01KAJ0Z1V5Q8T2C0W7M3E9R4XD']), {
    code: 1,
    err: /404 revocation_not_found/,
  })
})

t.test('who is meant', async (t) => {
  const { world, run } = await signingWorld(t)
  t.match(await run(['revoke', 'user', 'ana@example.com', '--yes']), {
    code: 1,
    out: '',
    err: 'no user with the address "ana@example.com" has signed in (did you mean "anna@example.com"?)',
  })
  t.match(await run(['revoke', 'user', 'bop', '--yes']), {
    code: 0,
    out: /user "bop" is revoked/,
    err: 'note: no sign-in of "bop" is known (did you mean "bob"?): it is taken as a sub\n',
  })
  t.match(await run(['revoke', 'user', 'zoe@example.org', '--sub', '--yes']), { code: 0, err: '' })
  t.match(await run(['revoke', 'key', 'nothing', '--yes']), {
    code: 1,
    err: /there is no API key "nothing" in force/,
  })
  const unknown = '01KAJ0Z1V5Q8T2C0W7M3E9R4XD'
  t.match(await run(['revoke', 'key', unknown, '--yes']), { code: 1, out: '', err: unknown })
  const session = 'uJQAi2yPkv7rW3sXh0Ea4g'
  t.match(await run(['revoke', 'session', session, '--yes']), {
    code: 1,
    out: '',
    err: /404 session_not_found/,
  })
  t.match(await run(['revoke', 'issuer', 'https://issuer.example', '--yes']), {
    code: 1,
    out: '',
    err: /is not an issuer/,
  })
  t.equal((await revocations(world)).length, 2)
})

t.test('a key that is revoked already, by its name: as after a partial revocation', async (t) => {
  const { run, done } = await signingWorld(t)
  const create = async (name: string) => {
    await done('keys', 'create', name, '--seat', 'admin')
    const { data } = JSON.parse(await done('keys', 'list', '--json', '--all'))
    return data.findLast((each: { name: string }) => each.name === name).id
  }
  const id = await create('export')
  const revoke = async (name = 'export') => run(['revoke', 'key', name, '--yes'])
  const titled = (key: string) => ({
    code: 0,
    out: new RegExp(`^closed: API key "export" ${key} is revoked$`, 'm'),
  })
  t.match(await revoke(), titled(id))
  t.match(await revoke(), titled(id))
  const second = await create('export')
  t.match(await revoke(), titled(second), 'one in force takes precedence')
  t.match(await revoke(), { code: 1, err: /2 API keys are named "export": give an id/ })
  t.match(await run(['keys', 'revoke', 'export', '--yes']), { code: 1, err: /no API key "export" in force/ })
})

t.test('a caller who may revoke and nothing else: by sub and by id', async (t) => {
  const { world, run, done } = await signingWorld(t)
  await done('seats', 'create', 'Revoker', '--in', 'admin', '--permission', 'revocations:create')
  const key = (await done('keys', 'create', 'on-call', '--seat', 'Revoker')).trim()
  await done('keys', 'create', 'leaked', '--seat', 'admin')
  const { data } = (await world.admin('GET', '/v1/api-keys')).json
  const { id } = data.find(({ name }: { name: string }) => name === 'leaked')
  const revoke = (...args: string[]) => run(['revoke', ...args, '--yes', '--api-key', key])
  t.match(await revoke('user', 'anna'), {
    code: 1,
    out: '',
    err: /users:list[^]*give the sub of the user, and --sub\n$/,
  })
  t.match(await revoke('user', 'anna', '--sub'), { code: 0, out: /^closed: user "anna" is revoked$/m })
  t.match(await revoke('key', 'leaked'), {
    code: 1,
    out: '',
    err: /api-keys:list[^]*give the id of the API key\n$/,
  })
  t.match(await revoke('key', id), { code: 0, out: new RegExp(`^closed: API key ${id} is revoked$`, 'm') })
  t.equal((await revocations(world)).length, 2)
})

t.test('bad usage is refused before a gateway is asked', async (t) => {
  const { run } = afar(t, { port: 9 }, 'sk_none')
  for (const [args, err] of [
    [['revoke', 'user', 'anna', '--until', '7d'], /--until is the end of the block: it goes with --all/],
    [['revoke', 'user', 'anna', '--all', '--until', '0d'], /--until is in the past/],
    [['revoke', 'key', 'a', '--all'], /unknown option --all/],
    [['revoke', 'user', 'anna', '--api-keys'], /unknown option --api-keys/],
    [['revoke', 'tenant', 'acme'], /unexpected argument "acme"/],
    [['revoke', 'session', 'not-a-session'], /ID is not the id of a session/],
    [['revoke', 'user', 'anna', '--dry-run', '--receipt', 'a'], /--dry-run has no --receipt/],
    [['revoke', 'show', 'x'], /ID is not the id of a revocation/],
    [['revoke', 'usr', 'anna'], /unknown action "usr" \(did you mean "user"\?\)/],
    [['revoke'], /an action is missing/],
    [['revoke', '--dry-run'], /unknown option --dry-run/],
  ] as const)
    t.match(await run(args), { code: 2, out: '', err }, args.join(' '))
  t.match(await run(['revoke', '--help']), { code: 0, out: /^ {2}--from +Makes revocations again/m })
})

t.test('a receipt that cannot be had, before anything is done', async (t) => {
  const { world, run, folder } = await signingWorld(t)
  const args = ['revoke', 'user', 'anna', '--yes', '--receipt']
  writeFileSync(join(folder, 'other'), 'mine')
  mkdirSync(join(folder, 'locked'))
  chmodSync(join(folder, 'locked'), 0o500)
  for (const [file, err] of [
    ['none/a.receipt', /nothing is revoked, because none\/a\.receipt can't be written/],
    ['other', /nothing is revoked, because other is there already: give --receipt another name/],
    ...(process.getuid?.() === 0 ? [] : ([['locked/a', /can't be written/]] as const)),
  ] as const)
    t.match(await run([...args, file]), { code: 1, out: '', err })
  t.same(await revocations(world), [])
  t.match(await run(['revoke', 'key', 'none', '--yes', '--receipt', 'a']), { code: 1 })
  t.notOk(existsSync(join(folder, 'a')), 'a file without a receipt is removed')

  const plain = await startWorld(t)
  const without = await afar(t, plain, plain.keys['acme'] ?? '').run([...args, 'a.receipt'])
  t.match(without, { code: 1, out: '', err: /nothing was revoked: the gateway has no identity/ })
  t.same(await revocations(plain), [])
})

t.test('a block, and everything', async (t) => {
  const { run, done } = await signingWorld(t)
  const blocked = await run(['revoke', 'user', 'anna', '--all', '--until', '7d', '--yes'])
  t.match(blocked, { code: 0, out: /^ {2}blocks +new sign-ins too, until \S+Z$[^]*^ {2}blocked +new/m })
  t.match(await done('users', 'blocks'), /^anna /m)
  await done('keys', 'create', 'other', '--seat', 'admin')
  const json = JSON.parse(await done('revoke', 'tenant', '--api-keys', '--yes', '--json'))
  t.match(json, { subject: { tenant: true }, state: 'closed', ended: { api_keys: 1 }, kept: [{}] })
  const asked = await run(['revoke', 'tenant', '--api-keys', '--json'], {}, person('no'))
  t.match(asked, {
    code: 1,
    out: '',
    err: /^This revokes tenant "acme":\n[^]*^ {2}keeps +API key \w+, which asks$/m,
  })
  t.match(asked.err, /nothing was written/)
})
