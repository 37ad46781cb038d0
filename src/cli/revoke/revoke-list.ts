/** `seatgate revoke list` and `revoke show`: the revocations of the past, with their answers and receipts. */

import { subjectText } from '../../../seats-admin/model/revocation.ts'
import { isUlid } from '../../../seats-admin/model/ulid.ts'
import { JSON_OUTPUT, UsageError } from '../arguments.ts'
import { defineCommand } from '../command.ts'
import type { RevocationView } from '../remote/endpoint-answers.ts'
import { READ } from '../remote/exits.ts'
import { REMOTE, withGateway } from '../remote/gateway-options.ts'
import { printList, shortTime } from '../remote/list-output.ts'
import { keptReceipt, RECEIPT, withReceiptFile } from './revoke-subject.ts'
import { answerText } from './revocation-output.ts'

const COLUMNS = [
  { name: 'id', width: 26, of: ({ id }: RevocationView) => id ?? '' },
  { name: 'at', width: 20, of: ({ at }: RevocationView) => shortTime(at) },
  { name: 'state', width: 7, of: ({ state }: RevocationView) => state },
  { name: 'subject', width: 20, of: ({ subject }: RevocationView) => subjectText(subject) },
]

export const listRevocations = defineCommand({
  name: 'revoke list',
  summary: 'Lists the revocations of the tenant, the newest first.',
  details: 'It requires revocations:list in the admin space. --json has the whole answers.',
  options: {
    subject: {
      value: 'SUBJECT',
      description: 'only of this subject: user:SUB, api_key:ID, session:ID, issuer:URL or tenant',
    },
    ...REMOTE,
    json: JSON_OUTPUT,
  },
  exits: READ,
  example: 'seatgate revoke list --subject user:anna',
  run: async ({ values }, terminal) =>
    withGateway(values, terminal, (gateway) => {
      const { subject, json } = values
      const pages = gateway.pages<RevocationView>('/v1/revocations', ({ id }) => id ?? '', { subject })
      return printList(pages, { columns: COLUMNS, json, none: 'no revocations' }, terminal)
    }),
})

export const showRevocation = defineCommand({
  name: 'revoke show',
  summary: 'Shows a revocation with the answer that it got, and writes its receipt to a file.',
  details: 'It requires revocations:list in the admin space.',
  positionals: [{ name: 'ID', description: 'id of the revocation' }],
  options: { receipt: RECEIPT, ...REMOTE, json: JSON_OUTPUT },
  exits: READ,
  example: 'seatgate revoke show 01JEX6Q1W4R6J8WQ3T5N9V2K7M --receipt anna.receipt',
  run: async ({ values, positionals: [id = ''] }, terminal) => {
    if (!isUlid(id)) throw new UsageError('ID is not the id of a revocation')
    const { receipt, json } = values
    return withGateway(values, terminal, (gateway) =>
      withReceiptFile(receipt, 'no receipt is written', async (write) => {
        const answer = await gateway.get<RevocationView>(`/v1/revocations/${id}`)
        const file = await keptReceipt(answer, write, receipt)
        await terminal.print(
          json ? JSON.stringify(answer) : answerText(subjectText(answer.subject), answer, file),
        )
      }),
    )
  },
})
