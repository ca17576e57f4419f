// Package sim is a machine that tells the truth about itself: it serves generated scholarly works over the protocols
// of real providers, habits included, and can be asked afterwards what a complete harvest of each must contain.
//
// Words. The World is what exists: so many papers on each day, all of it a function of the seed. A Paper is one of
// them, free of any provider's format; it has several ids and several dates. A profile is one provider's protocol:
// Crossref, Europe PMC, PubMed, DataCite, OpenAlex, arXiv and three other OAI-PMH archives, all over the same papers and
// each under its real path. Two real paths belong to two: /works is Crossref's unless a request can only be meant for
// OpenAlex, which has /openalex/works to itself, and /oai is arXiv's for whoever asks for the format of that name.
// A Work is a paper as Crossref serves it, byte for byte, and a Record one as any other Provider does. A scroll is the
// server's memory of a walk that a Crossref client began with cursor=*, a history that of a PubMed client's searches;
// the other providers write the place into the token and remember nothing. A fault is something done to a request on
// purpose.
//
// Nothing is stored: a paper is written anew whenever it is needed, so a million of them cost as much memory as one
// page. The only state is the open scrolls and histories, and their number is bounded.
//
// What it never does: it never calls out, never writes a file, never serves text that somebody published, and never
// answers a parameter it does not understand as if it did. What a real provider has and this one lacks is refused with
// the provider's own kind of error. The exceptions are Crossref's select and Europe PMC's page, which are accepted and
// without effect, the second because the real one does the same.
package sim
