/** A Seat: what it grants, who holds it, which routes it opens, and how it came to be so. */

import { useState } from 'preact/hooks'
import { hrefOf, open } from '../address.js'
import { Dialog, DialogButtons } from '../dialogs.js'
import { call } from '../gateway-calls.js'
import { History } from '../history.js'
import { ImpactView, impactOf, membersOf } from '../impact.js'
import { readList, useAction, useIsShown, useList, useLoaded } from '../loading.js'
import { html } from '../markup.js'
import { Who } from '../names.js'
import { countText, Facts, Name, Table, Time } from '../pieces.js'
import { readSeat } from '../seat-review.js'
import { givenBy } from '../seat-sources.js'
import { ListEnd, Loading, Notice, PageHeading, Refusal, whenLoaded } from '../states.js'

/** @typedef {import('../answers.d.ts').Seat} Seat */
/** @typedef {import('../seat-review.js').Read} Read */

const BACK = { href: hrefOf(['seats']), text: 'Seats' }

/** @param {{ rest: string[] }} props */
export function SeatPage({ rest: [id = ''] }) {
  const read = useLoaded((signal) => readSeat(id, signal), [id])
  const [deleting, setDeleting] = useState(false)
  const { value } = read
  return html`
    <${PageHeading} title=${value?.seat.name ?? 'Seat'} back=${BACK}>
      ${
        value &&
        html`<a class="button" href=${hrefOf(['seats', id, 'edit'])}>Edit</a>
          <button type="button" class="button danger" onClick=${() => setDeleting(true)}>Delete…</button>`
      }
    <//>
    ${whenLoaded(read, 'Seat', ({ seat }) => html`<${Details} seat=${seat} />`)}
    ${deleting && value && html`<${DeleteDialog} read=${value} onClose=${() => setDeleting(false)} onStale=${read.again} />`}
  `
}

/** @param {{ seat: Seat }} props */
function Details({ seat }) {
  return html`
    <div class="columns">
      <section>
        <h2>Grants <span class="quiet">${countText(seat.permissions.length, 'permission')}</span></h2>
        <${Texts} of=${seat.permissions} none="No permission." />
      </section>
      <section>
        <h2>In <span class="quiet">${countText(seat.spaces.length, 'space')}</span></h2>
        <${Texts} of=${seat.spaces} none="No space: it grants nothing." />
      </section>
      <section>
        <h2>Record</h2>
        <${Facts}
          rows=${[
            ['Id', html`<code>${seat.id}</code>`],
            ['Created', html`<${Time} at=${seat.created_at} /> by <${Who} id=${seat.created_by} />`],
            [
              'Updated',
              seat.updated_by
                ? html`<${Time} at=${seat.updated_at} /> by <${Who} id=${seat.updated_by} />`
                : 'never',
            ],
          ]}
        />
      </section>
    </div>
    <div class="columns">
      <${Holders} seat=${seat} />
      <${Keys} seat=${seat} />
    </div>
    <${Routes} seat=${seat} />
    <${History} id=${seat.id} version=${seat.updated_at} />
  `
}

/** @param {{ of: readonly string[], none: string }} props */
function Texts({ of, none }) {
  if (of.length === 0) return html`<p class="quiet">${none}</p>`
  return html`<ul class="texts" tabindex="0">
    ${of.map((each) => html`<li key=${each}><code>${each}</code></li>`)}
  </ul>`
}

/** @param {{ seat: Seat }} props */
function Holders({ seat }) {
  const members = useLoaded((signal) => membersOf(seat.name, Infinity, signal), [seat.name])
  return html`<section>
    <h2>Members</h2>
    ${whenLoaded(
      members,
      'Members',
      ({ members: users, isWhole }) => html`
        ${users.length === 0 && html`<p class="quiet">${givenBy('noMember')}</p>`}
        <ul class="names">
          ${users.map(
            ({ sub, email, blocked }) =>
              html`<li key=${sub}>
                <a href=${hrefOf(['users'], { sub })}><${Name} of=${email ?? sub} /></a
                >${blocked && html` <span class="badge danger">blocked</span>`}
              </li>`,
          )}
        </ul>
        ${users.length > 0 && html`<p class="quiet">${givenBy('members')}</p>`}
        ${!isWhole && html`<p class="quiet">Only the first 5,000 users were looked through.</p>`}
      `,
    )}
  </section>`
}

/** @param {{ seat: Seat }} props */
function Keys({ seat }) {
  const keys = useLoaded(
    async (signal) => {
      const { items } = await readList('/v1/api-keys', { signal })
      return items.filter((key) => key.revoked_at === undefined && key.seats.includes(seat.name))
    },
    [seat.name],
  )
  return html`<section>
    <h2>API keys</h2>
    ${whenLoaded(
      keys,
      'API keys',
      (held) => html`
        ${held.length === 0 && html`<p class="quiet">No API key holds it.</p>`}
        <ul class="names">
          ${held.map(
            ({ id, name, expires_at: end }) =>
              html`<li key=${id}>
                <a href=${hrefOf(['api-keys', id])}><${Name} of=${name} /></a>
                ${end && Date.parse(end) < Date.now() && html` <span class="badge">expired</span>`}
              </li>`,
          )}
        </ul>
      `,
    )}
  </section>`
}

/** @param {{ seat: Seat }} props */
function Routes({ seat }) {
  const rows = useList('/v1/access/can', {
    query: { seat: seat.name },
    idOf: rowId,
    deps: [seat.updated_at],
  })
  const opened = rows.items.filter((row) => row.seat !== null)
  return html`<section>
    <h2>Routes that it opens</h2>
    <${Table}
      label="Routes"
      columns=${[['Route'], ['Space'], ['Permission'], ['Upstream', 'wide-only']]}
      rows=${opened.map(
        (row) =>
          html`<tr key=${rowId(row)}>
            <th scope="row"><code>${row.method} ${row.host ?? ''}${row.path}</code></th>
            <td><code>${row.space}</code></td>
            <td><code>${row.permission}</code></td>
            <td class="wide-only">${row.upstream}</td>
          </tr>`,
      )}
    />
    <${ListEnd} of=${rows} what="Routes" shown=${opened} none=${html`<p class="quiet">None.</p>`} />
  </section>`
}

/** @param {import('../answers.d.ts').AccessRow} row */
function rowId({ method, host, path, space }) {
  const hosts = host === undefined ? '' : host.includes(',') ? `{${host}}` : host
  return `${method} ${hosts}${path}${space === null ? '' : ` ${space}`}`
}

/** @param {{ read: Read, onClose: () => void, onStale: () => void }} props */
function DeleteDialog({ read: { seat, etag }, onClose, onStale }) {
  // Its holders lose as much as where it is emptied.
  const impact = useLoaded(() => impactOf({ [seat.name]: { spaces: [], permissions: [] } }), [seat.name])
  const isShown = useIsShown()
  const { busy, refusal, run } = useAction(async () => {
    await call('DELETE', `/v1/seats/${seat.id}`, { ifMatch: etag })
    // The user may have left the page.
    if (isShown.current) open(hrefOf(['seats']))
  })
  const isStale = refusal?.status === 412
  return html`<${Dialog} title=${`Delete ${seat.name}?`} onClose=${onClose} busy=${busy} wide>
    ${impact.refusal && html`<${Refusal} refusal=${impact.refusal} again=${impact.again} what="Whom it touches is not known" />`}
    ${impact.value ? html`<${ImpactView} of=${impact.value} deletes />` : impact.refusal ? null : html`<${Loading} what="Asking whom it touches" />`}
    ${
      isStale
        ? html`<${Notice} title="The Seat was changed meanwhile. Nothing was deleted.">
            <p>Close this dialog to see its current state.</p>
          <//>`
        : refusal
          ? html`<${Refusal} refusal=${refusal} what="Not deleted" />`
          : null
    }
    <${DialogButtons}
      busy=${busy}
      onClose=${() => (isStale ? (onStale(), onClose()) : onClose())}
      onRun=${run}
      text="Delete"
      busyText="Deleting everywhere…"
      kind="danger"
      disabled=${isStale || impact.value === null}
      leave=${isStale ? 'Show the current state' : 'Cancel'}
    />
  <//>`
}
