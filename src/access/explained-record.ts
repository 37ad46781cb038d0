/** The schema of the answer of `POST /v1/access/explain`. */

import {
  flag,
  freeObject,
  list,
  named,
  object,
  oneOf,
  orNull,
  text,
  textItem,
  time,
} from '../../seats-admin/model/json-schema.ts'

const via = named(
  'SeatVia',
  'What gives the caller a Seat that the credential does not name: a group, or a grant.',
  object(
    {},
    {
      group: text('The name of the group, which is that of the Seat.'),
      grant: text('The id of the grant.'),
      until: time('The end of the grant.'),
    },
  ),
)

const considered = named(
  'ConsideredSeat',
  'A Seat that the credential, a group or a grant gives the caller for the space.',
  object(
    {
      name: text('Its name; its id if the Seat no longer exists.', { examples: ['Viewer'] }),
      id: orNull(text('Its id. Null if there is no such Seat.')),
      verdict: oneOf(
        ['grants', 'lacks_permission', 'not_in_space', 'unknown', 'name_given_up'],
        'Whether it grants the permission in the space, or why not.',
      ),
    },
    { via },
  ),
)

const askedCaller = named(
  'ExplainedCaller',
  'How the request names its caller.',
  object({
    by: oneOf(['seats', 'user', 'api_key', 'none'], 'By which field of the body; `none`: by none of them.'),
    known: orNull(
      flag(
        'False if the asker sees no sign-in of the user, no such API key, or not all of the Seats; `reason` says so too. Null if the request was decided without its credential.',
      ),
    ),
  }),
)

export const explainedRecord = named(
  'DecisionRecord',
  'A decision and its reason, as `seatgate explain --json` prints it.',
  object(
    {
      answer: oneOf(['allow', 'deny'], 'The decision.'),
      code: text('`allow`, or why the request is refused.', { examples: ['permission_denied'] }),
      reason: text('The reason as a sentence.'),
      method: text('The method of the request.'),
      path: text('The normalized path, without the query; as given if it cannot be read.'),
      route: orNull(
        freeObject(
          'The entry that matches, with its settings and its place in the tables. Null if none does, or if it is for callers of another tenant.',
        ),
      ),
      permission: orNull(text('What the entry requires.')),
      principal: orNull(
        freeObject('The caller and the Seats that its credential names. Null if the credential is refused.'),
      ),
      space: orNull(text('The space of the request.')),
      seats: list(considered, 'The Seats that were considered.'),
      grantedIn: list(
        textItem({ examples: ['main'] }),
        "If the request is refused for its space: some other spaces in which the caller's Seats hold the permission.",
      ),
      source: orNull(text('Where the data came from: `memory`, `redis` or `store`.')),
      timings: freeObject('Microseconds by stage, and in total.'),
      config: orNull(text('The hash of the tables.')),
    },
    {
      caller: askedCaller,
      signedIdentity: freeObject(
        'The request header with the signed identity, and its audience. Absent if the upstream gets none.',
      ),
    },
  ),
)
