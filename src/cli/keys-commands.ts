/** `seatgate keys`: lists, creates and revokes API keys through a gateway. */

import { printable } from '../telemetry/readable.ts'
import { JSON_OUTPUT } from './arguments.ts'
import { CommandFailed, defineCommand, messageOf, type Terminal } from './command.ts'
import { KEY_FILE, withKeyFile } from './key-file.ts'
import { confirmChange, YES } from './remote/administration-prompt.ts'
import type { ApiKeyView } from './remote/endpoint-answers.ts'
import { READ, WRITTEN } from './remote/exits.ts'
import { findKey, findSub, idOf, withNearSeats } from './remote/find.ts'
import type { Gateway } from './remote/gateway-client.ts'
import { REMOTE, withGateway } from './remote/gateway-options.ts'
import { printList, shortTime } from './remote/list-output.ts'
import { momentOf } from './remote/moment.ts'
import { GatewayRefusal } from './remote/problem-text.ts'
import { warn } from './seats/written.ts'

const COLUMNS = [
  { name: 'id', width: 26, of: ({ id }: ApiKeyView) => id },
  { name: 'name', width: 12, of: ({ name }: ApiKeyView) => name },
  { name: 'owner', width: 8, of: ({ owner }: ApiKeyView) => owner ?? '' },
  { name: 'seats', width: 8, of: ({ seats }: ApiKeyView) => seats },
  { name: 'state', width: 18, of: stateOf },
]

export const listKeys = defineCommand({
  name: 'keys list',
  summary: 'Lists the API keys that the API key may see, in order of creation.',
  details: 'The text of a key is not stored. --json includes the times of creation and of the last use.',
  options: {
    all: { description: 'includes revoked and expired keys' },
    owner: { value: 'USER', description: 'only the keys that this user owns: `sub` or email address' },
    ...REMOTE,
    json: JSON_OUTPUT,
  },
  exits: READ,
  example: 'seatgate keys list',
  run: async ({ values }, terminal) =>
    withGateway(values, terminal, async (gateway) => {
      const owner = await ownerOf(gateway, values.owner, terminal)
      const keys = gateway.pages<ApiKeyView>('/v1/api-keys', idOf, { owner })
      const shown = { columns: COLUMNS, json: values.json, none: 'no API keys in force' }
      return printList(values.all ? keys : inForce(keys), shown, terminal)
    }),
})

/** The `sub` of an owner. @param subOrAddress undefined: none is named */
async function ownerOf(gateway: Gateway, subOrAddress: string | undefined, terminal: Terminal) {
  return subOrAddress === undefined ? undefined : findSub(gateway, subOrAddress, terminal)
}

async function* inForce(pages: AsyncIterable<ApiKeyView[]>): AsyncGenerator<ApiKeyView[]> {
  for await (const page of pages) yield page.filter((key) => key.revoked_at === undefined && !hasExpired(key))
}

function hasExpired({ expires_at: end }: ApiKeyView): boolean {
  return end !== undefined && Date.parse(end) <= Date.now()
}

function stateOf(key: ApiKeyView): string {
  const { revoked_at: revoked, expires_at: end } = key
  if (revoked !== undefined) return `revoked ${day(revoked)}`
  if (hasExpired(key)) return `expired ${day(end ?? '')}`
  return end === undefined ? 'in force' : `until ${day(end)}`
}

function day(time: string): string {
  return shortTime(time).slice(0, 10)
}

export const createKey = defineCommand({
  name: 'keys create',
  summary: 'Creates an API key and prints its text, which is not stored and cannot be shown again.',
  details:
    'The text is the only line on standard output. With --out, it is written to the file and not printed.',
  positionals: [{ name: 'NAME', description: 'what the key is for; it does not have to be unique' }],
  options: {
    seat: { value: 'NAME', description: 'a Seat that the key holds', required: true, multiple: true },
    expires: {
      value: 'TIME',
      description: 'when the key expires: a duration such as 90d, or a date-time; by default, never',
    },
    owner: {
      value: 'USER',
      description:
        'the user who owns the key, `sub` or email address: a block of the user also refuses the key, and seatgate revoke user revokes it',
    },
    out: KEY_FILE,
    ...REMOTE,
    json: JSON_OUTPUT,
  },
  exits: WRITTEN,
  example: 'seatgate keys create nightly --seat Viewer --expires 90d --out nightly.key',
  run: async ({ values, positionals: [name = ''] }, terminal) => {
    const expires = values.expires === undefined ? undefined : momentOf('--expires', values.expires)
    return withGateway(values, terminal, (gateway) =>
      withKeyFile(values.out, async (write) => {
        const owner = await ownerOf(gateway, values.owner, terminal)
        const body = { name, seats: values.seat, expires_at: expires, owner }
        const { value } = await gateway
          .send<ApiKeyView>('/v1/api-keys', { method: 'POST', body })
          .catch(async (cause: unknown) => {
            throw cause instanceof GatewayRefusal ? await withNearSeats(gateway, cause, body.seats) : cause
          })
        const until = value.expires_at === undefined ? '' : `, until ${value.expires_at}`
        warn(value.warnings, terminal)
        await write?.(value.key ?? '').catch((cause: unknown) => {
          throw notKept(value, 'written', cause)
        })
        terminal.printError(printable(`created API key ${JSON.stringify(value.name)} ${value.id}${until}`))
        const text = values.json ? asJson(value, values.out) : (values.out ?? value.key ?? '')
        await terminal.print(text).catch((cause: unknown) => {
          throw write === null ? notKept(value, 'printed', cause) : cause
        })
      }),
    )
  },
})

/** The answer as JSON. @param file the file that has the key; undefined: the output has it */
function asJson({ key, ...rest }: ApiKeyView, file: string | undefined): string {
  return JSON.stringify(file === undefined ? { ...rest, key } : { ...rest, key_file: file })
}

/** The gateway has only the hash, so a key that is not kept is lost. */
function notKept({ id }: ApiKeyView, done: 'printed' | 'written', cause: unknown): CommandFailed {
  return new CommandFailed(
    `its text could not be ${done}: revoke it with seatgate keys revoke ${id} (${messageOf(cause)})`,
  )
}

export const revokeKey = defineCommand({
  name: 'keys revoke',
  summary: 'Revokes an API key: no instance accepts it from then on.',
  details: 'seatgate revoke key also cuts what is open with it, says so for each gateway, and has a receipt.',
  positionals: [{ name: 'KEY', description: 'name or id of the API key, not its text' }],
  options: { ...REMOTE, yes: YES },
  exits: WRITTEN,
  example: 'seatgate keys revoke nightly-export',
  run: async ({ values, positionals: [nameOrId = ''] }, terminal) =>
    withGateway(values, terminal, async (gateway) => {
      const { id, name } = await findKey(gateway, nameOrId)
      await confirmChange(gateway, { seats: {}, revoke: [id] }, values.yes, terminal)
      await gateway.send(`/v1/api-keys/${id}`, { method: 'DELETE' })
      await terminal.print(printable(`revoked ${JSON.stringify(name)} ${id}`))
    }),
})
