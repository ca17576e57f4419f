// Package alert looks for what needs a person, remembers it, and tells people.
//
// The rules are in the root package. Here are the facts that they are applied to (Sight), the loop that applies them while this
// process has the role (Watch), and the messages that go to receivers (Message, Hook). One process does this at a time, whichever
// of those that plan. What was found is written down together with what is to be told, and told afterwards: whoever is
// killed in between leaves it to the next. A receiver that does not answer holds up neither the looking nor the other receivers.
package alert
