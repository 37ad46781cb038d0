/** The revocations of a user or of an API key, each with its answer and its receipt. */

import { useState } from 'preact/hooks'
import { Dialog } from './dialogs.js'
import { useList } from './loading.js'
import { html } from './markup.js'
import { countText, Table, Time } from './pieces.js'
import { RevocationView } from './revocation-view.js'
import { endedOf, scopeText, subjectText } from './revocation-texts.js'
import { ListEnd } from './states.js'

/** @typedef {import('./revocations.js').Revocation} Revocation */

/** @param {{ subject: import('./revocations.js').Subject, version: number }} props version: of the list */
export function Revocations({ subject, version }) {
  const list = useList('/v1/revocations', { query: { subject: subjectText(subject) }, deps: [version] })
  const [shown, setShown] = useState(/** @type {Revocation | null} */ (null))
  return html`<section>
    <h2>Revocations</h2>
    <${Table}
      label="Revocations"
      columns=${[
        ['At'],
        ['State'],
        ['Void', 'wide-only'],
        ['Has ended', 'wide-only'],
        ['Reason'],
        [html`<span class="unseen">Actions</span>`, 'action'],
      ]}
      rows=${list.items.map((each) => html`<${Row} key=${each.id} of=${each} onShow=${() => setShown(each)} />`)}
    />
    <${ListEnd} of=${list} what="Revocations" none=${html`<p class="quiet">None.</p>`} />
    ${
      shown &&
      html`<${Dialog} title="Revocation" onClose=${() => setShown(null)} wide>
        <${RevocationView} of=${shown} />
      <//>`
    }
  </section>`
}

/** @param {{ of: Revocation, onShow: () => void }} props */
function Row({ of, onShow }) {
  const parts = endedOf(of.ended).map(({ count, one, many }) => countText(count, one, many))
  return html`<tr>
    <th scope="row"><${Time} at=${of.at} /></th>
    <td><span class=${`badge ${of.state === 'closed' ? 'valid' : 'danger'}`}>${of.state}</span></td>
    <td class="wide-only">${scopeText(of)}</td>
    <td class="wide-only">${parts.join(', ') || '–'}</td>
    <td>${of.reason ? html`<bdi>${of.reason}</bdi>` : html`<span class="quiet">–</span>`}</td>
    <td class="action"><button type="button" class="button" onClick=${onShow}>Show…</button></td>
  </tr>`
}
