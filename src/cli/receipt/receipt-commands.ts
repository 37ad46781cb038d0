/** `seatgate receipt`: verifies and shows receipts of revocations, without a gateway. */

import { subjectText } from '../../../seats-admin/model/revocation.ts'
import { isReceiptFault, MAX_RECEIPT, readReceipt, verifyReceipt } from '../../identity/receipt.ts'
import { printable } from '../../telemetry/readable.ts'
import { JSON_OUTPUT } from '../arguments.ts'
import { CommandFailed, defineCommand, type Terminal } from '../command.ts'
import { answerText } from '../revoke/revocation-output.ts'
import { fold } from '../screen.ts'
import { keySetAt, readText } from './key-set.ts'
import { type RevocationClaims, revocationClaims } from './receipt-claims.ts'

const FILE = {
  name: 'FILE',
  description: 'the receipt, or - to read it from standard input',
  completes: 'file',
} as const
const DOES_NOT_HOLD = 3

export const verifyReceiptFile = defineCommand({
  name: 'receipt verify',
  summary: 'Verifies that a gateway signed a receipt, and shows what it says.',
  details:
    'The keys are those at /.well-known/seatgate/jwks.json of the gateway. Keep a copy of them with the receipts: a key that is withdrawn leaves that list.',
  positionals: [FILE],
  options: {
    jwks: {
      value: 'PLACE',
      description: 'the key set: a file, or its http or https URL',
      required: true,
      completes: 'file',
    },
    json: JSON_OUTPUT,
  },
  exits: {
    0: 'the receipt holds',
    1: 'the receipt or the keys cannot be read',
    3: 'the receipt does not hold, for the reason that is printed',
  },
  example: 'seatgate receipt verify anna.receipt --jwks jwks.json',
  run: async ({ values: { jwks, json }, positionals: [file = ''] }, terminal) => {
    const text = await receiptText(file, terminal)
    const verified = await verifyReceipt(text, await keySetAt(jwks))
    const claims = isReceiptFault(verified) ? verified : revocationClaims(verified.claims)
    const fault = isReceiptFault(claims) ? claims.fault : null
    if (json)
      await terminal.print(JSON.stringify(fault === null ? { holds: true, claims } : { holds: false, fault }))
    else if (isReceiptFault(claims)) await terminal.print(fold(printable(`does not hold: ${claims.fault}`)))
    else await terminal.print(`the receipt holds\n${claimsText(claims)}`)
    return fault === null ? 0 : DOES_NOT_HOLD
  },
})

export const showReceipt = defineCommand({
  name: 'receipt show',
  summary: 'Shows what a receipt says, without verifying it.',
  positionals: [FILE],
  options: { json: JSON_OUTPUT },
  exits: { 0: 'the receipt was shown', 1: 'it cannot be read, or is no receipt of a revocation' },
  example: 'seatgate receipt show anna.receipt',
  run: async ({ values: { json }, positionals: [file = ''] }, terminal) => {
    const receipt = readReceipt(await receiptText(file, terminal))
    const claims = isReceiptFault(receipt) ? receipt : revocationClaims(receipt.claims)
    if (isReceiptFault(claims)) throw new CommandFailed(`${file} cannot be shown: ${claims.fault}`)
    terminal.printError('note: not verified: "seatgate receipt verify" does that')
    await terminal.print(json ? JSON.stringify(claims) : claimsText(claims))
  },
})

/** The text of a receipt without its line end. @throws CommandFailed */
async function receiptText(file: string, terminal: Terminal): Promise<string> {
  const text = file === '-' ? (await terminal.readInput()).toString() : await readText(file)
  return text.slice(0, MAX_RECEIPT + 2).replace(/\r?\n$/, '')
}

function claimsText(claims: RevocationClaims): string {
  const { iss, tenant, audit, subject } = claims
  const origin = `tenant ${tenant}, signed by ${iss}, audit entry ${audit.seq}:${audit.hash}`
  return `${fold(printable(origin))}\n${answerText(subjectText(subject), claims, null)}`
}
