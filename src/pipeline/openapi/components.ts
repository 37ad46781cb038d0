/** The parts of the OpenAPI document that operations refer to. */

import {
  count,
  type JsonSchema,
  list,
  named,
  object,
  oneOf,
  text,
} from '../../../seats-admin/model/json-schema.ts'
import { SPACE_ID } from '../../../seats-admin/model/space.ts'
import { type ErrorCode, errors } from '../../model/errors.ts'

const fault = object({
  path: text('A JSON Pointer (RFC 6901) to the member of the body, or `/` and the name of the parameter.', {
    examples: ['/name'],
  }),
  message: text('What is wrong with it.', { examples: ['is required'] }),
})

const tableFault = object({
  instance: text('The id of the instance that cannot use the tables.'),
  file: text('The name of the file. Empty if the fault has no place.'),
  line: count('From 1 on; 0 if the fault has no place.'),
  column: count('As `line`.'),
  message: text('What is wrong.'),
})

const codes = Object.keys(errors) as ErrorCode[]

/** The schema of what `problemBody` of `http/server/problem.ts` writes. */
export const problem = named(
  'Problem',
  'A refusal (RFC 9457).',
  object(
    {
      type: text('`urn:seatgate:` followed by the code.', { examples: ['urn:seatgate:permission_denied'] }),
      title: text('The same text for every occurrence of the code.'),
      status: { type: 'integer', description: 'The status of the response.' },
      code: oneOf(codes, 'Why the request is refused. Codes may be added.'),
      detail: text('What happened, as a text for people.'),
      request_id: text('Identifies the log line of the request.'),
    },
    {
      errors: list(fault, 'The faults of the input, with `input_invalid`.'),
      faults: list(tableFault, 'The faults of route tables, with `tables_refused`.'),
    },
  ),
)

const spaceHeader: JsonSchema = { type: 'string', pattern: SPACE_ID.source, examples: ['admin'] }

export const parameters = {
  Space: {
    name: 'Space',
    in: 'header',
    required: true,
    description: 'The space of the request, in which the caller needs the permission.',
    schema: spaceHeader,
  },
  'If-Match': {
    name: 'If-Match',
    in: 'header',
    description:
      'The `ETag` that was read, a list of tags, or `*` (RFC 9110, section 13.1.1). If the newest version has another tag, the answer is 412.',
    schema: { type: 'string' },
  },
}

const header = (description: string) => ({ description, required: true, schema: { type: 'string' } })

export const headers = {
  'X-Request-Id': header('The id of the request, which is also in the log.'),
  'WWW-Authenticate': header('A challenge (RFC 9110, section 11.6.1).'),
  'Retry-After': header('Seconds until a retry makes sense.'),
  ETag: header('Identifies the version (RFC 9110, section 8.8.3); each write creates another version.'),
  Location: header('Where the browser is redirected to.'),
}

export type Header = keyof typeof headers

/** The first one that a request has counts: `x-api-key`, `Authorization`, the cookie. */
export const securitySchemes = {
  apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key', description: 'An API key of the tenant.' },
  bearer: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: "A token of the gateway, or of the tenant's identity provider if the gateway accepts these.",
  },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: '__Host-seatgate_session',
    description:
      "The session of a browser. For methods other than GET, it is accepted only with the gateway's own origin in `Origin`.",
  },
}
