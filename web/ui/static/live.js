// Keeps the page as new as the ledger. It asks for the part that changes while the tab is
// seen, and changes only what differs, so that what is unfolded, selected or focused stays.
// When nobody answers it says so at once: an old page must not look like good news.
"use strict";

const every = Number(document.body.dataset.every) || 2000; // milliseconds between two looks
const patience = 8000; // for one answer
const calmly = 10000; // between two looks while the stream is open: ages grow old by themselves

const connection = document.getElementById("connection");
const said = document.getElementById("said");
const icon = document.getElementById("icon");
const pulse = document.getElementById("pulse");
let seen = Date.now(); // when the page was last known to be new
let why = ""; // why it is not, "" while it is
let timer = 0;
let looking = false;
let again = false; // something changed while it looked
let stream = null; // tells when the ledger has changed
let told = false; // it is open: there is no need to ask all the time

async function look() {
	if (looking || document.hidden) {
		again = looking; // what changed meanwhile is looked at after this one
		return;
	}
	looking = true;
	clearTimeout(timer);
	try {
		apply(await fetchParts());
		seen = Date.now();
		why = "";
	} catch (e) {
		why = e.name === "TimeoutError" ? "no answer" : e.message;
	}
	looking = false;
	tell();
	timer = setTimeout(look, again ? 0 : told ? calmly : every);
	again = false;
}

// listen opens the stream while the tab is seen. Without it the page asks by itself.
function listen() {
	if (document.hidden) {
		stream?.close();
		stream = null;
		told = false;
		return;
	}
	if (stream === null) {
		stream = new EventSource(document.body.dataset.up + "live");
		stream.onopen = () => { told = true; };
		stream.onerror = () => { told = false; look(); };
		stream.onmessage = look;
	}
}

// fetchParts gets the parts that change. A 503 of ours says what is wrong and is shown; what a proxy says in our place is
// no page.
async function fetchParts() {
	const at = new URL(location.href);
	at.searchParams.set("part", "live");
	const answer = await fetch(at, { cache: "no-store", redirect: "error", signal: AbortSignal.timeout(patience) });
	const page = new DOMParser().parseFromString(await answer.text(), "text/html");
	if (page.getElementById("live") === null) {
		throw new Error("the answer was " + answer.status);
	}
	return page.querySelectorAll("[data-part]");
}

function apply(parts) {
	const here = document.getElementById("live");
	const before = here.dataset.verdict + here.dataset.level;
	for (const part of parts) {
		const old = document.getElementById(part.id);
		if (old !== null && !old.contains(document.activeElement?.closest("form"))) { // who types is not disturbed
			morph(old, part);
		}
	}
	if (before !== here.dataset.verdict + here.dataset.level) {
		said.textContent = here.dataset.verdict + ". " + here.querySelector("h1").textContent;
	}
}

// tell shows whether the page is new.
function tell() {
	const lost = why !== "";
	const here = document.getElementById("live");
	document.body.classList.toggle("lost", lost);
	pulse.hidden = false;
	pulse.classList.toggle("old", lost);
	pulse.textContent = lost ? "stale since " + new Date(seen).toISOString().slice(11, 19) + " UTC" : "live";
	document.title = lost ? "? Not connected · sandkeeper" : here.dataset.title;
	const href = lost ? icon.dataset.lost : here.dataset.icon;
	if (href && icon.getAttribute("href") !== href) {
		icon.setAttribute("href", href);
	}
	if (!lost) {
		connection.hidden = true;
		return;
	}
	const age = Math.max(1, Math.round((Date.now() - seen) / 1000));
	const text = "Not connected (" + why + "). What is below was seen " + words(age) + " ago and may be wrong by now.";
	// The alert is read out once; afterwards only its age changes.
	connection.setAttribute("aria-live", connection.hidden ? "assertive" : "off");
	connection.textContent = text;
	connection.hidden = false;
}

function words(seconds) {
	if (seconds < 60) {
		return seconds + " s";
	}
	return seconds < 3600 ? Math.floor(seconds / 60) + " min " + (seconds % 60) + " s" : Math.floor(seconds / 3600) + " h";
}

// morph makes one element like another and touches nothing that is the same already.
function morph(old, next) {
	for (const { name } of [...old.attributes]) {
		if (!next.hasAttribute(name) && name !== "open") {
			old.removeAttribute(name);
		}
	}
	for (const { name, value } of next.attributes) {
		if (old.getAttribute(name) !== value) {
			old.setAttribute(name, value);
		}
	}
	const wanted = new Set([...next.childNodes].map(keyed).filter((key) => key !== ""));
	let at = old.firstChild;
	for (const node of [...next.childNodes]) {
		const match = counterpart(at, node);
		if (match === null) {
			old.insertBefore(node, at);
			continue;
		}
		while (at !== match && !wanted.has(keyed(at))) { // what went away: moving the match would end a selection in it
			const gone = at;
			at = at.nextSibling;
			gone.remove();
		}
		if (at === match) {
			at = at.nextSibling;
		} else {
			old.insertBefore(match, at);
		}
		update(match, node);
	}
	while (at !== null) {
		const gone = at;
		at = at.nextSibling;
		gone.remove();
	}
}

function update(old, next) {
	if (old.nodeType === Node.ELEMENT_NODE) {
		morph(old, next);
	} else if (old.nodeValue !== next.nodeValue) {
		old.nodeValue = next.nodeValue;
	}
}

// counterpart is the first of the nodes from at on that stands for the same thing.
function counterpart(at, node) {
	const key = keyed(node);
	for (let n = at; n !== null; n = n.nextSibling) {
		if (n.nodeName === node.nodeName && keyed(n) === key) {
			return n;
		}
		if (key === "" && n.nodeType === Node.ELEMENT_NODE && node.nodeType !== Node.ELEMENT_NODE) {
			return null; // a text does not jump over an element
		}
	}
	return null;
}

function keyed(node) {
	return node.nodeType === Node.ELEMENT_NODE ? node.dataset.key || node.id : "";
}

// check tells the age of an old page, also of one that got old while the computer slept.
function check() {
	if (why === "" && !document.hidden && Date.now() - seen > (told ? calmly : every) + patience) {
		why = "no answer";
	}
	if (why !== "") {
		tell();
	}
}

document.addEventListener("visibilitychange", () => { listen(); look(); });
window.addEventListener("online", look);
setInterval(check, 1000);
timer = setTimeout(look, every);
listen();
