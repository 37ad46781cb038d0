/** `seatgate scim compare`: who would gain and who would lose which Seat with `seats_from: scim`. */

import { comparedUserView, type Listing, type Store, unseenUserView } from '../../../seats-admin/index.ts'
import type { ComparisonPage } from '../../../seats-admin/model/scim-comparison.ts'
import { loadConfig } from '../../config/load.ts'
import { printable } from '../../telemetry/readable.ts'
import { CONFIG, JSON_OUTPUT } from '../arguments.ts'
import { CommandFailed, defineCommand, tenantOf } from '../command.ts'
import { withStore } from '../existing-store.ts'
import { refuseBoth, STORE_TENANT } from '../grants/grants-commands.ts'
import type { ComparedUserView, UnseenUserView } from '../remote/endpoint-answers.ts'
import { idOf } from '../remote/find.ts'
import type { Gateway } from '../remote/gateway-client.ts'
import { REMOTE, withGateway } from '../remote/gateway-options.ts'
import { fitted, plural } from '../screen.ts'

const DIFFERS = 3
/** The most lines of a list in the text. */
const MOST_LINES = 20

export const compareScim = defineCommand({
  name: 'scim compare',
  summary:
    'Compares the Seats of the latest sign-ins with those that SCIM groups give now: who would gain and who would lose which with seats_from: scim.',
  details:
    'It asks a gateway or, with --tenant, reads the store in the configuration. Grants, API keys and tokens of other issuers stay as they are.',
  options: {
    tenant: STORE_TENANT,
    config: CONFIG,
    ...REMOTE,
    json: JSON_OUTPUT,
  },
  exits: {
    0: 'no user who signed in would gain or lose a Seat',
    1: 'the tenant has no SCIM, or the store or the gateway cannot be read',
    3: 'a user would gain or lose a Seat',
  },
  example: 'seatgate scim compare --tenant acme',
  run: async ({ values }, terminal) => {
    const { tenant, json } = values
    refuseBoth(values)
    const print = async (source: ComparisonSource) => {
      const comparison = await compare(source)
      await terminal.print(json ? JSON.stringify(comparison, null, 2) : asText(comparison))
      return comparison.differing.length > 0 ? DIFFERS : 0
    }
    if (tenant === undefined) return withGateway(values, terminal, (gateway) => print(ofGateway(gateway)))
    const config = await loadConfig(values.config, terminal.env)
    const { id, scim = null } = tenantOf(config, tenant)
    if (scim === null) throw new CommandFailed(`tenant ${id} has no scim in ${config.file}`)
    return withStore(config, terminal, (store) => print(ofStore(store, id, scim.user.mode)))
  },
})

interface ComparisonSource {
  users(): AsyncIterable<ComparedUserView>
  unseen(): AsyncIterable<UnseenUserView>
}

function ofGateway(gateway: Gateway): ComparisonSource {
  return {
    users: () => items(gateway.pages<ComparedUserView>('/v1/scim/comparison', ({ sub }) => sub)),
    unseen: () => items(gateway.pages<UnseenUserView>('/v1/scim/unseen-users', idOf)),
  }
}

async function* items<V>(pages: AsyncIterable<readonly V[]>): AsyncGenerator<V> {
  for await (const page of pages) yield* page
}

function ofStore(
  store: Store,
  tenant: string,
  mode: Parameters<Store['comparedUsers']>[1],
): ComparisonSource {
  return {
    users: () => every((page) => store.comparedUsers(tenant, mode, page), comparedUserView),
    unseen: () => every((page) => store.unseenUsers(tenant, mode, page), unseenUserView),
  }
}

async function* every<V, W>(
  list: (page: ComparisonPage) => Promise<Listing<V>>,
  viewOf: (item: V) => W,
): AsyncGenerator<W> {
  for (let after: string | null = null; ;) {
    const { data, next }: Listing<V> = await list({ limit: 1000, after })
    for (const item of data) yield viewOf(item)
    if (next === null) return
    after = next
  }
}

interface DifferingUser extends Pick<ComparedUserView, 'sub' | 'email' | 'scim' | 'groups_left_out'> {
  readonly gains: readonly string[]
  readonly loses: readonly string[]
}

interface Comparison {
  /** The number of users who have signed in. */
  readonly users: number
  readonly differing: readonly DifferingUser[]
  /** The `sub` of each user who has signed in and whom SCIM does not know. */
  readonly unknown: readonly string[]
  /** SCIM users who have not signed in. */
  readonly unseen: readonly UnseenUserView[]
}

async function compare(source: ComparisonSource): Promise<Comparison> {
  const differing: DifferingUser[] = []
  const unknown: string[] = []
  let users = 0
  for await (const { sub, email, scim, groups_left_out, ...seats } of source.users()) {
    users++
    if (scim === 'unknown') unknown.push(sub)
    const [before, after] = [new Set(seats.by_sign_in), new Set(seats.by_groups)]
    const [gains, loses] = [[...after.difference(before)], [...before.difference(after)]]
    if (gains.length > 0 || loses.length > 0)
      differing.push({ sub, email, scim, groups_left_out, gains, loses })
  }
  return { users, differing, unknown, unseen: await Array.fromAsync(source.unseen()) }
}

function asText({ users, differing, unknown, unseen }: Comparison): string {
  const total =
    differing.length === 0
      ? `no Seat would change for ${plural(users, 'user')} who signed in`
      : `${differing.length} of ${plural(users, 'user')} who signed in would have other Seats`
  const sections = [
    { title: total, items: differing.map(differenceLine) },
    {
      title: `SCIM does not know ${plural(unknown.length, 'user')} who signed in`,
      items: unknown.map((sub) => `  ${printable(sub)}`),
    },
    {
      title: `${plural(unseen.length, 'SCIM user')} did not sign in`,
      items: unseen.map(unseenLine),
    },
  ].filter(({ items: lines }, at) => at === 0 || lines.length > 0)
  const rest = (left: number) => `  … and ${left} more: --json has all of them`
  return fitted(sections, { most: MOST_LINES, rest }).join('\n')
}

function differenceLine({ sub, email, gains, loses, scim, groups_left_out: leftOut }: DifferingUser): string {
  const parts = [
    ...gains.map((name) => `+ ${name}`),
    ...loses.map((name) => `- ${name}`),
    ...(scim === 'active' ? [] : [scim === 'unknown' ? '(unknown to SCIM)' : '(not active)']),
    ...(leftOut ? ['(the provider left groups out at the sign-in)'] : []),
  ]
  return printable(`  ${sub}${email === null ? '' : ` ${email}`}: ${parts.join('  ')}`)
}

function unseenLine({ user_name: name, active, by_groups: seats }: UnseenUserView): string {
  const what = active ? (seats.length === 0 ? 'no Seat' : seats.join(', ')) : 'not active'
  return printable(`  ${name}: ${what}`)
}
