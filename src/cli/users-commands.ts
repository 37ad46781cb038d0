/** `seatgate users`: lists, blocks and unblocks users through a gateway. */

import { BLOCK_ORIGINS } from '../../seats-admin/model/block.ts'
import { printable } from '../telemetry/readable.ts'
import { JSON_OUTPUT } from './arguments.ts'
import { CommandFailed, defineCommand } from './command.ts'
import { quoted } from './near-names.ts'
import { confirmChange, YES } from './remote/administration-prompt.ts'
import { AuthorNames } from './remote/author-names.ts'
import type { BlockView, UserView } from './remote/endpoint-answers.ts'
import { READ, WRITTEN } from './remote/exits.ts'
import { findBlocks, findSub, findUser, idOf, blockedSuggestion } from './remote/find.ts'
import type { Gateway } from './remote/gateway-client.ts'
import { REMOTE, withGateway } from './remote/gateway-options.ts'
import { printList, shortTime } from './remote/list-output.ts'
import { momentOf } from './remote/moment.ts'

const USER = { name: 'USER', description: '`sub` or email address of the user' }

const USER_COLUMNS = [
  { name: 'sub', width: 18, of: ({ sub }: UserView) => sub },
  { name: 'email', width: 22, of: ({ email }: UserView) => email ?? '' },
  { name: 'last sign-in', width: 20, of: ({ last_sign_in: at }: UserView) => shortTime(at ?? '') },
  { name: 'seats', width: 14, of: ({ seats, blocked }: UserView) => (blocked ? 'BLOCKED' : seats) },
]

export const listUsers = defineCommand({
  name: 'users list',
  summary:
    'Lists the users who signed in, with the Seats of their latest sign-in; with seats_from: scim, those of SCIM too, with the Seats of their groups.',
  details: 'Users with tokens from other issuers are not known.',
  options: {
    q: { value: 'TEXT', description: 'only users with this text in their sub or email address' },
    ...REMOTE,
    json: JSON_OUTPUT,
  },
  exits: READ,
  example: 'seatgate users list --q anna',
  run: async ({ values }, terminal) =>
    withGateway(values, terminal, (gateway) =>
      printList(
        gateway.pages<UserView>('/v1/users', ({ sub }) => sub, { q: values.q }),
        { columns: USER_COLUMNS, json: values.json, none: 'no users' },
        terminal,
      ),
    ),
})

export const blockUser = defineCommand({
  name: 'users block',
  summary:
    'Blocks a user: every token and session of the user is refused, and open WebSockets and streams are closed.',
  details:
    'An email address must belong to a user who has signed in. A `sub` may be unknown, because tokens from other issuers also have one. A token is accepted again when the block ends: seatgate revoke user voids it for good, and its --all blocks too.',
  positionals: [USER],
  options: {
    until: {
      value: 'TIME',
      description:
        'when the block ends: a duration such as 7d, or a date-time; by default, when the user is unblocked',
    },
    sub: { description: 'takes USER as a `sub`, even if it is not known from a sign-in' },
    reason: { value: 'TEXT', description: 'the reason, for people to read; it appears in the audit' },
    ...REMOTE,
    yes: YES,
    json: JSON_OUTPUT,
  },
  exits: WRITTEN,
  example: 'seatgate users block anna@example.com --until 7d',
  run: async ({ values, positionals: [subOrAddress = ''] }, terminal) => {
    const until = values.until === undefined ? undefined : momentOf('--until', values.until)
    return withGateway(values, terminal, async (gateway) => {
      const user = values.sub ? subOrAddress : await findSub(gateway, subOrAddress, terminal)
      const body = { user, until, reason: values.reason }
      await confirmChange(gateway, { seats: {}, block: [user] }, values.yes, terminal)
      const { value } = await gateway.send<BlockView>('/v1/blocks', { method: 'POST', body })
      const end = value.until === undefined ? '' : ` until ${value.until}`
      await terminal.print(values.json ? JSON.stringify(value) : printable(`blocked ${value.user}${end}`))
    })
  },
})

interface NamedBlock extends BlockView {
  readonly by: string
}

const BLOCK_COLUMNS = [
  { name: 'user', width: 20, of: ({ user }: NamedBlock) => user },
  { name: 'origin', width: 6, of: ({ origin }: NamedBlock) => origin },
  { name: 'until', width: 20, of: ({ until }: NamedBlock) => (until === undefined ? '' : shortTime(until)) },
  { name: 'by', width: 14, of: ({ by }: NamedBlock) => by },
  { name: 'reason', width: 20, of: ({ reason }: NamedBlock) => reason ?? '' },
]

export const listBlocks = defineCommand({
  name: 'users blocks',
  summary: 'Lists the blocks in force, with user, origin, end, author and reason.',
  details:
    'An API key that made a block is shown by name if you have the permission api-keys:read. --json always has its id.',
  options: { ...REMOTE, json: JSON_OUTPUT },
  exits: READ,
  example: 'seatgate users blocks',
  run: async ({ values }, terminal) =>
    withGateway(values, terminal, (gateway) => {
      const blocks = gateway.pages<BlockView>('/v1/blocks', idOf)
      const shown = { json: values.json, none: 'no blocks' }
      return values.json === true
        ? printList(blocks, { columns: [], ...shown }, terminal)
        : printList(named(blocks, new AuthorNames(gateway)), { columns: BLOCK_COLUMNS, ...shown }, terminal)
    }),
})

async function* named(
  pages: AsyncIterable<readonly BlockView[]>,
  names: AuthorNames,
): AsyncGenerator<NamedBlock[]> {
  for await (const page of pages) {
    const withNames: NamedBlock[] = []
    for (const block of page) withNames.push({ ...block, by: await names.nameOf(block.created_by) })
    yield withNames
  }
}

export const unblockUser = defineCommand({
  name: 'users unblock',
  summary: 'Ends a block of a user.',
  details:
    'A user is blocked until every block has ended: one of administrators, one of events and one of SCIM of the identity provider may stand side by side.',
  positionals: [USER],
  options: {
    origin: {
      value: 'ORIGIN',
      description: `the block that ends, if the user has several: ${BLOCK_ORIGINS.join(', ')}`,
      choices: BLOCK_ORIGINS,
      completes: BLOCK_ORIGINS,
    },
    ...REMOTE,
  },
  exits: WRITTEN,
  example: 'seatgate users unblock anna@example.com',
  run: async ({ values, positionals: [subOrAddress = ''] }, terminal) =>
    withGateway(values, terminal, async (gateway) => {
      const { origin } = values
      const blocks = await blocksOfUser(gateway, subOrAddress)
      const [block, ...others] = blocks.filter((each) => origin === undefined || each.origin === origin)
      const origins = blocks.map((each) => each.origin).join(' and ')
      if (block === undefined)
        throw new CommandFailed(
          blocks.length > 0
            ? `${quoted(subOrAddress)} has no block of ${origin}, but of ${origins}`
            : `${quoted(subOrAddress)} is not blocked${await blockedSuggestion(gateway, subOrAddress)}: "seatgate users blocks" lists the users who are`,
        )
      if (others.length > 0)
        throw new CommandFailed(`${quoted(subOrAddress)} has blocks of ${origins}: name one with --origin`)
      await gateway.send(`/v1/blocks/${block.id}`, { method: 'DELETE' })
      const left = blocks.filter((each) => each !== block).map((each) => each.origin)
      const ended = `ended the block of ${block.origin}; ${block.user} is still blocked by ${left.join(' and ')}`
      await terminal.print(printable(left.length === 0 ? `unblocked ${block.user}` : ended))
    }),
})

/** By `sub`, also of a user who never signed in, or else by email address. */
async function blocksOfUser(gateway: Gateway, subOrAddress: string): Promise<BlockView[]> {
  const blocks = await findBlocks(gateway, subOrAddress)
  if (blocks.length > 0) return blocks
  const user = await findUser(gateway, subOrAddress)
  return user === null ? [] : findBlocks(gateway, user.sub)
}
