/** What all commands that talk to a gateway have in common: widths, colours, pipes, and failures. */

import t from 'tap'
import { commands } from '../../../src/cli/commands.ts'
import { startWorld } from '../../support/world.ts'
import { startPushed, tableOf } from '../../tables/pushing.ts'
import { argsOf, askForColours, intoHead, isRemote, wellSaid } from '../every-command.ts'
import { seatgateUnread } from '../in-process.ts'
import { afar, signedIn } from './from-afar.ts'

const COLUMNS = 80
const LONG = 'A Seat with a name that is longer than its column'

const spaces = Array.from({ length: 20 }, (_, at) => `space-${at}`).join(' ')

/** In the order in which they run: some make what others need. */
const ROWS: Readonly<Record<string, { works: readonly string[]; exit?: number; wrong: readonly string[] }>> =
  {
    'seats create': {
      works: [
        `seats create "${LONG}" --in ${spaces}`,
        'seats create Viewer --in main --permission trainings:list',
      ],
      wrong: ['seats create', 'seats create a b c'],
    },
    'seats list': {
      works: ['seats list', 'seats list --json'],
      wrong: ['seats list Viewer'],
    },
    'seats show': {
      works: [`seats show "${LONG}"`, `seats show "${LONG}" --history`],
      wrong: ['seats show'],
    },
    'seats update': {
      works: ['seats update Viewer --add trainings:read'],
      wrong: ['seats update Viewer', 'seats update'],
    },
    'seats plan': {
      works: ['seats plan seats.yaml', 'seats plan seats.yaml --prune'],
      exit: 3,
      wrong: ['seats plan'],
    },
    'seats apply': { works: ['seats apply seats.yaml'], wrong: ['seats apply'] },
    'seats export': { works: ['seats export'], wrong: ['seats export x'] },
    'keys create': {
      works: [
        'keys create nightly --seat Viewer --expires 90d',
        'keys create kept --seat Viewer --out kept.key',
      ],
      wrong: ['keys create nightly', 'keys create a --seat b --expires 0d'],
    },
    'keys list': {
      works: ['keys list', 'keys list --all'],
      wrong: ['keys list x'],
    },
    'keys revoke': { works: ['keys revoke nightly'], wrong: ['keys revoke'] },
    decisions: {
      works: ['decisions', 'decisions --code allow --json'],
      wrong: ['decisions x', 'decisions --limit 0'],
    },
    'revoke user': {
      works: ['revoke user alice --all --until 1h --reason left --yes', 'revoke user alice --dry-run'],
      wrong: ['revoke user', 'revoke user a --until 1h', 'revoke user a --all --until soon'],
    },
    'revoke key': { works: ['revoke key kept --yes'], wrong: ['revoke key', 'revoke key a --all'] },
    'revoke session': {
      works: ['revoke session uJQAi2yPkv7rW3sXh0Ea4g --yes'],
      exit: 1,
      wrong: ['revoke session', 'revoke session a'],
    },
    'revoke issuer': {
      works: ['revoke issuer https://issuer.example --yes'],
      exit: 1,
      wrong: ['revoke issuer'],
    },
    'revoke tenant': { works: ['revoke tenant --yes'], wrong: ['revoke tenant acme'] },
    'revoke list': { works: ['revoke list', 'revoke list --subject tenant'], wrong: ['revoke list a'] },
    'revoke show': {
      works: ['revoke show 01KAJ0Z1V5Q8T2C0W7M3E9R4XD'],
      exit: 1,
      wrong: ['revoke show', 'revoke show a'],
    },
    'grants create': {
      works: [
        'grants create alice --seat Viewer --until 2h',
        'grants create alice --seat Viewer --from 1h --until 2099-01-01T00:00:00Z --reason "on call" --json',
      ],
      wrong: ['grants create alice', 'grants create alice --seat Viewer --until soon'],
    },
    'grants list': {
      works: ['grants list', 'grants list --ending-before 7d'],
      wrong: ['grants list x', 'grants list --ending-before soon'],
    },
    'grants review': {
      works: ['grants review --apply review.csv --yes', 'grants review --export new.csv'],
      wrong: ['grants review', 'grants review --apply a.csv --export b.csv'],
    },
    'grants delete': {
      works: ['grants delete 01KAJ0Z1V5Q8T2C0W7M3E9R4XD'],
      exit: 1,
      wrong: ['grants delete', 'grants delete a'],
    },
    'tables plan': {
      works: ['tables plan routes', 'tables plan routes --json'],
      exit: 3,
      wrong: ['tables plan', 'tables plan a b', 'tables plan routes --json --markdown'],
    },
    'tables push': {
      works: ['tables push routes --yes'],
      wrong: ['tables push', 'tables push routes --force'],
    },
    'tables history': {
      works: ['tables history', 'tables history --json --limit 1'],
      wrong: ['tables history x', 'tables history --limit 0'],
    },
    'tables pull': {
      works: ['tables pull pulled', 'tables pull pulled --version 1 --force'],
      wrong: ['tables pull', 'tables pull a --version x', 'tables pull a --version 0'],
    },
    'tables rollback': {
      works: ['tables rollback 1 --yes'],
      wrong: ['tables rollback', 'tables rollback x', 'tables rollback 01', 'tables rollback tables:1'],
    },
    'users list': { works: ['users list'], wrong: ['users list x'] },
    'users block': {
      works: ['users block alice --until 1h --reason left'],
      wrong: ['users block', 'users block a --until soon'],
    },
    'users blocks': { works: ['users blocks'], wrong: ['users blocks alice'] },
    'users unblock': { works: ['users unblock alice'], wrong: ['users unblock'] },
    verify: {
      works: ['verify --duration 20s --no-streams'],
      wrong: [
        'verify x',
        'verify --rate 2/s',
        'verify --duration long',
        'verify --readers 0',
        'verify --format xml',
      ],
    },
    'seats delete': { works: ['seats delete Viewer --yes'], wrong: ['seats delete'] },
  }

const FILES = {
  'review.csv': 'user,email,seat,spaces,by,id,from,until,last_used,remove\n',
  'routes/a.yaml': tableOf('public'),
  'seats.yaml': `tenant: acme\nseats:\n  Viewer: { spaces: [main], permissions: [trainings:lists] }\n  New: { spaces: [dev], permissions: [trainings:list] }\n  "${LONG}": { spaces: [main], permissions: [] }\n`,
}

askForColours()

t.test('each command has its row', async (t) => {
  t.same(Object.keys(ROWS).toSorted(), Object.keys(commands).filter(isRemote).toSorted())
})

t.test('commands that work', async (t) => {
  const world = await startWorld(t)
  const { folder, run } = afar(t, world, world.keys['acme'] ?? '', FILES)
  await signedIn(world, { alice: 'alice-with-a-long-address@department.example.com' }, [])
  const env = { SEATGATE_URL: `http://127.0.0.1:${world.port}`, SEATGATE_API_KEY: world.keys['acme'] }
  const stored = await startPushed(t)
  const { run: runStored } = afar(t, stored.gateway, stored.key, FILES)
  for (const [name, { works, exit = 0 }] of Object.entries(ROWS))
    for (const line of works) {
      const ran = await (name.startsWith('tables ') ? runStored : run)(argsOf(line))
      t.equal(ran.code, exit, `${line}: ${ran.err}`)
      wellSaid(t, ran, line)
      const wide = (text: string) =>
        text.length > COLUMNS && !text.startsWith('sk_') && !line.includes('--json')
      t.same(ran.out.split('\n').filter(wide), [], line)
    }
  for (const line of ['seats list', `seats show "${LONG}"`, 'seats export'])
    t.match(await seatgateUnread(folder, argsOf(line), env), { code: 0, out: '', err: '' }, line)
  const whole = await run(['seats', 'list'])
  const piped = await intoHead(folder, ['seats', 'list'], env)
  t.same(piped, { code: 0, out: whole.out.replace(/\n[^]*/, '\n'), err: '' }, 'head -1')
})

t.test('failures: nothing on standard output, and a sentence', async (t) => {
  const { run } = afar(t, { port: 9 }, 'sk_none', FILES)
  for (const [name, { works, wrong }] of Object.entries(ROWS)) {
    const [first = ''] = works
    const failures: [string, number, Record<string, string>][] = [
      [first, 1, {}],
      [first, 2, { SEATGATE_URL: '' }],
      [first, 2, { SEATGATE_API_KEY: '' }],
      ...[...wrong, `${first} --nonsense`].map((line): [string, number, {}] => [line, 2, {}]),
    ]
    for (const [line, code, env] of failures) {
      const ran = await run(argsOf(line), env)
      t.equal(ran.code, code, `${line}: ${ran.err}`)
      t.equal(ran.out, '')
      t.ok(ran.err.startsWith(`seatgate ${name}: `), ran.err)
      t.equal(/^usage: seatgate /m.test(ran.err), code === 2, ran.err)
      wellSaid(t, ran, line)
    }
  }
})
