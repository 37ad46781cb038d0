/** The JSON forms of route tables in the store. */

import { reachedInstanceView, type TablesVersion } from '../../seats-admin/index.ts'
import {
  count,
  flag,
  list,
  mapOf,
  named,
  object,
  oneOf,
  orNull,
  text,
  textItem,
  time,
} from '../../seats-admin/model/json-schema.ts'
import { KINDS } from './access-change.ts'

/** Bytes of a request: of all texts, in JSON. */
export const MAX_TABLES_BODY = 8 * 1024 * 1024
/** The most files of one version. */
const MAX_FILES = 1000
export const JSON_LIMITS = { members: MAX_FILES + 2, elements: 1 }

export const files = mapOf(
  textItem({ examples: ['upstream: trainings\nroutes:\n  GET /v1/trainings: trainings:list\n'] }),
  'The text of each file by its name, at most 1,000 files of up to 1 MiB each, as JSON. A name has letters, digits, `.`, `_` and `-`, and ends with `.yaml` or `.yml`. A file is a route table; it may have `rate_limits`, which all files name, and no variables.',
  { maxProperties: MAX_FILES },
)

const author = object(
  {
    kind: text('`user`, `api-key` or `command`.', { examples: ['api-key'] }),
    id: text('The `sub` of the user, the id of the API key, or the name of the command.'),
  },
  { name: text('The email address of the user, or the name of the API key. Absent if it is not known.') },
)

const versionFields = {
  version: count('Counts the versions. 0 before the first push.'),
  hash: orNull(
    text('The content hash of the tables, as at the instance that pushed them. Null before the first push.', {
      examples: ['3f2a8c01d9e4'],
    }),
  ),
  entries: count('The number of routes.'),
  created_at: orNull(time('When they were pushed. Null before the first push.')),
  created_by: orNull({ ...author, description: 'Who pushed them. Null before the first push.' }),
}

const entry = named(
  'TablesEntry',
  'What an entry requires, and where it is. Null: no entry answers.',
  object(
    {
      permission: text('A permission, `authenticated` or `public`.'),
      upstream: text('The upstream; `seatgate` for a built-in endpoint.'),
      file: text('The name of its file.'),
      line: count('Its line; 0 for a built-in endpoint.'),
    },
    {
      tenant: text('The only tenant whose callers are accepted. Absent if each is.'),
      space: text('The source of the space. Absent for the header `Space`.'),
      strip_prefix: text('The prefix that is removed from the forwarded path. Absent if there is none.'),
      base_path: text('The prefix that is added to the forwarded path. Absent if there is none.'),
    },
  ),
)

export const listedTables = named('ListedTables', 'A version of the route tables.', object(versionFields))

export const activeTablesView = object({
  ...versionFields,
  files,
  versions: list(listedTables, 'The versions, the newest first, at most `limit`.'),
  has_more: { type: 'boolean', description: 'Whether there are older versions than those.' },
})

export const tablesVersion = object({
  ...versionFields,
  files: orNull({
    ...files,
    description: 'As they were pushed. Null of versions before the newest 100.',
  }),
})

const SOME = ', at most 100, and none after 20,000 names in one answer.'
const bothCounts = { gain_count: count('How many gain access.'), lose_count: count('How many lose access.') }
const seatName = textItem({ examples: ['Editor'] })
const user = object({
  sub: text('The `sub` of the user.'),
  email: orNull(text('The email address of the latest sign-in. Null if it is not known.')),
})
const apiKey = object({ id: text('The id of the API key.'), name: text('The name of the API key.') })

const change = named(
  'TablesChange',
  'A difference between two sets of route tables.',
  object(
    {
      kind: oneOf(KINDS, 'What it means, the most important first.'),
      method: text('The method of the entry; `ANY` stands for every method.'),
      pattern: text('The pattern of the entry.'),
      seats: {
        ...object({
          ...bothCounts,
          gain: list(seatName, `Seats that gain access${SOME}`),
          lose: list(seatName, `Seats that lose access${SOME}`),
        }),
        description: 'The names of Seats of the tenant.',
      },
      witness: {
        ...object(
          { method: text('Its method.'), path: text('Its path.') },
          { host: text('Its host. Absent for hosts that no table names.') },
        ),
        description: 'A request that is answered differently.',
      },
      old: orNull(entry),
      new: orNull(entry),
    },
    {
      host: text('The hosts of its table, joined by commas. Absent for hosts that no table names.'),
      users: {
        ...object({
          ...bothCounts,
          gain: list(user, `Users who gain access${SOME}`),
          lose: list(user, `Users who lose access${SOME}`),
        }),
        description:
          'Users who are not blocked, by their Seats now. Those whose Seats are known from tokens alone do not count. In a plan alone.',
      },
      api_keys: {
        ...object({
          ...bothCounts,
          gain: list(apiKey, `API keys that gain access${SOME}`),
          lose: list(apiKey, `API keys that lose access${SOME}`),
        }),
        description: 'API keys in force. In a plan alone.',
      },
    },
  ),
)

const changes = list(
  change,
  'The differences to the active tables, as `seatgate diff` shows them, with the Seats of the tenant as they are.',
)

export const pushedTables = object({
  version: count('The active version. As before if its files are the same.'),
  hash: text('The content hash of the tables, as at the instance that answers.', {
    examples: ['3f2a8c01d9e4'],
  }),
  instances: list(reachedInstanceView, 'The gateways that the change has reached.'),
  took_ms: count('Milliseconds from the request to the answer.'),
  changes,
})

export const plannedTables = object({
  equal: flag('Whether each request is answered as before.'),
  hash: text('The content hash that the tables would have at the instance that answers.'),
  changes,
})

/** Before the first push. */
export const NONE = { version: 0, hash: null, entries: 0, created_at: null, created_by: null }

export function versionForm({ version: number, hash, entries, createdAt, createdBy }: TablesVersion) {
  const { kind, id, name } = createdBy
  return {
    version: number,
    hash,
    entries,
    created_at: new Date(createdAt).toISOString(),
    created_by: { kind, id, ...(name === undefined ? {} : { name }) },
  }
}
