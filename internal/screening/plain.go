package screening

import (
	"regexp"
	"strings"
	"unicode"
)

// Persons whose wishes and words are not the writer's, in words as splitWords writes them.
const (
	personEn = `(?:sister|brother|mother|mom|mum|father|dad|husband|hubby|wife|son|daughter|kid|friend|ex|boss|coworker|colleague|neighbou?r|partner|boyfriend|girlfriend|roommate|cousin|aunt|uncle)s?`
	personDe = `(?:schwester|bruder|mutter|mama|vater|papa|mann|frau|sohn|tochter|kind|freund(?:in)?|ex|chef(?:in)?|kolleg(?:e|in)|nachbar(?:in)?|partner(?:in)?|oma|opa|cousine?)`
	personEs = `(?:herman[oa]|madre|mama|padre|papa|marido|esposo|esposa|mujer|hij[oa]|amig[oa]|ex|jef[ea]|companer[oa]|vecin[oa]|novi[oa]|prim[oa]|ti[oa]|abuel[oa]|niet[oa])`
	personFr = `(?:soeur|frere|mere|maman|pere|papa|mari|femme|fils|fille|amie?|copain|copine|ex|chef(?:fe)?|patron|collegue|voisine?|conjointe?|cousine?|tante|oncle)` //nolint:misspell // other languages
	personPt = `(?:irma|irmao|mae|pai|marido|esposa|mulher|filh[oa]|amig[oa]|ex|chefe|colega|vizinh[oa]|namorad[oa]|prim[oa]|ti[oa]|avo|net[oa])`
)

// unplain finds what makes a request none that can be acted on at once, in any language:
// a condition, another person's wish or words, a future or an almost, a change of the own
// number, the wish to stay, or a negated verb. A comma stands for the end of a clause.
var unplain = compileAny(
	`(?:once|unless|as soon as|until|till) (?:i|im|ive|it|its|this|that|the|my|we|next)`, `if (?:i|im|ive|it|its|this|that|the|my|nothing|things|next|anything)`,
	`when (?:i (?:hit|reach|get to|finish|have|am done|m done)|im done|ive|the (?:program\w*|study|course))`, `(?:not )before then`, `not before`,
	`(?:my|our|a|the) `+personEn+`(?: \w+)? (?:wants?|wanted|leaves?|left|quit|says|said|yelled|shouted|told|wrote|texted|asked|thinks|got|dropped|unsubscribed|cancell?ed|keeps)`,
	`(?:he|she) (?:\w+ )?(?:wants|wanted|said|says|yelled|shouted|told|wrote|left|quit)`, `i (?:told|said to|yelled at|shouted at) (?:my|the|him|her|them)`, `is what i (?:told|said|yelled)`,
	`(?:i|ill|id|im|will) probably`, `probably (?:opt|quit|leave|stop|unsub\w*)`, `(?:maybe|perhaps) i(?:ll)?`, `i (?:may|might)`, `(?:almost|nearly) (?:unsub\w+|quit|left|cancel\w+|opted|stopped|dropped)`, `(?:was|were) (?:\w+ )?(?:about|going|ready) to`, `next (?:year|month|week|summer|winter|spring|fall) (?:i|ill|im|we)`, `(?:ill|i will|im going to) (?:\w+ ){0,5}next (?:year|month|week|summer|winter|spring|fall)`,
	`(?:thought|thinking) (?:about|of) \w+ing`, `considering`, `not sure yet`, `(?:would|wouldve|might) (?:have )?(?:left|quit|stopped|unsubscribed|opted)`, `some ?day`, `still deciding`, `joking|kidding`,
	`(?:in|auf|en|em) (?:english|german|spanish|french|portuguese|deutsch|englisch|spanisch|ingles|espanol|aleman|anglais|francais|allemand|portugues|alemao)`, //nolint:misspell // other languages
	`old (?:number|phone|cell|mobile|one)`, `(?:and|please|,) use (?:this|the new)`, `new number is`,
	`(?:,|but|please|just|and|so) keep (?:me|em|them|it|sending|texting|going|coming|my)`, `^keep (?:me|em|them|it|sending|texting|going|coming)`, `but (?:im |i am |i |ill |i will )(?:staying|stay|like it|love|stick\w*)`,
	`for now i(?:m| am)? (?:like|love|enjoy|happy|fine|staying)`, `still here`, `(?:dont|didnt|havent) (?:get|got|gotten|receive|received)`, `no (?:me )?(?:llegan|llegaron|han llegado|recibi|recibo)`, `(?:recois|ai recu|jai recu) (?:plus|pas|rien)`, `(?:kriege|bekomme|bekam|kamen|kommen) (?:\w+ )?(?:keine|nichts)`, `nao (?:recebi|recebo|estou recebendo|chegou|chegam|chegaram)`, `send (?:me )?more`, `(?:schickt|schreibt)(?: mir)? (?:(?:bitte|gern|gerne|ruhig|noch) )*(?:mehr|ofter)`, `(?:^|,|y|e) ?(?:mand(?:en|a|enme|em)|env(?:ien|iem|ia)) (?:me )?ma[si]s?`, `start (?:them|it|sending|texting)(?: \w+)? again`,
	`(?:dont|do not|never|wont|not) (?:want to |wanna |going to |ever |please |you )*(?:take me|remove|unsubscribe|delete|opt|drop me|cancel\w*|leav(?:e|ing) (?:the|this)|quit|leave me alone)`,

	`(?:falls|sofern|sobald|wenn) (?:ich|das|es|die|der|nachste\w*|mein\w*|sich|nichts|alles|man|in)`, `vorher nicht`, `erst (?:dann|wenn)`, `bis dahin`,
	`(?:meine?r?|unsere?|die|der) `+personDe+`(?: \w+)? (?:will|mochte|wollte|meint|meinte|sagt|sagte|hat (?:\w+ )?(?:geschrieben|gesagt|gemeint|gerufen|gebrullt|geschrien)|denkt|findet|schreibt|schrie|rief|soll|brullte)`,
	`(?:hab|habe) ich (?:\w+ )?(?:zu |mir |meinem |meiner )(?:\w+ ){0,2}gesagt`, `(?:sagte|rief) ich (?:zu |mir |meinem |meiner )`,
	`(?:vielleicht|eventuell|evtl|wahrscheinlich|vermutlich) (?:(?:mal|auch) )?(?:ich|steig\w*|meld\w*|hor\w*|kundig\w*|mach\w*)`, `(?:ich|steig\w*|meld\w*|hor\w*|kundig\w*|mach\w*) (?:ich |mich )*(?:vielleicht|eventuell|evtl|wahrscheinlich|vermutlich)`, `beinahe`, `fast (?:hatte|ware|wollte|abgemeldet)`, `(?:hatte|ware|wollte) (?:\w+ ){0,3}fast`, `ware ich (?:\w+ )?(?:ausgestiegen|weg|raus|gegangen)`, `ausgestiegen ware`, `ware ich ausgestiegen`, `hattet ihr`, `hatte ich mich`,
	`nachste[sn]? (?:jahr|monat|woche|sommer) (?:\w+ ){0,2}ich`, `uberlege`, `mal sehen`, `irgendwann`, `wollte (?:ich )?(?:gestern|erst|neulich)`,
	`alte[nrs]? (?:handy|telefon)?(?:nummer|nr|handy)`, `neue (?:handy|telefon)?nummer (?:ist|lautet)`, `und (?:nehmt|nimm|nutzt|verwendet) (?:diese|die neue|die hier)`,
	`(?:aber|doch|und) ich (?:bleib\w*|mach\w* weiter)`, `ich aber (?:schon|nicht|bleib\w*)`, `bleibe? (?:ich )?(?:dabei|drin)`, `weiter ?so`, `(?:macht|machen sie) (?:(?:ruhig|bitte|gern|gerne|so|nur) )*weiter`, `(?:schreibt?|schickt?)(?: mir)? (?:(?:bitte|ruhig|gern|gerne|doch|einfach) )*(?:weiter|wieder)`, `denke? nicht dran`, `der rest ist`,
	`(?:nicht|nie|bloss nicht) (?:\w+ )?(?:abmelden|loschen|austragen|streichen|entfernen|rausnehmen|kundigen|aussteigen|aufhoren)(?: bitte)?(?: ,|$)`, `(?:^|, |bitte )hort? (?:(?:bloss|blos|bitte|ja) )*nicht auf`, `(?:nicht|nie) (?:\w+ )?(?:geloscht|entfernt|gestrichen|abgemeldet|ausgetragen)`, `not (?:want to |wanna |be )*be(?:ing)? (?:removed|deleted|taken|unsubscribed)`, `no quiero (?:ser|que me (?:borren|quiten|saquen|den))`, `pas (?:etre |que vous me )(?:retir|supprim|desinscri|desabonn|enlev)\w*`, `nao quero (?:ser (?:removid|excluid|retirad)[oa]|que me (?:tirem|removam))`,
	`auf zu \w+`, `gar nicht (?:aussteigen|aufhoren|raus|kundigen|abmelden)`,

	`si (?:no (?:contesto|respondo|funciona|mejoro|puedo|logro|hay|te contesto|les contesto)|la|el|las|los|yo|me (?:va|sale|siento|salgo)|sigo|esto|en|un|una|algun\w*|mi|todo|para|fallo|hubiera|llego)`,
	`(?:cuando|en cuanto|una vez que|hasta que) (?:\w+ ){0,2}(?:llegue|termine|acabe|cumpla|tenga|sea|logre|alcance|pase|haya|quiera|pueda|vuelva|baje)`, `antes no`, `no antes`,
	`(?:mi|mis|una|la|el|un) `+personEs+`(?: \w+)? (?:quiere|quiso|queria|dice|dijo|grito|escribio|piensa|cree|se (?:dio|salio|fue|borro)|salio|dejo|pidio)`, `le (?:dije|digo|grite) (?:a|al)`,
	`casi (?:me|lo|cancelo|los|dejo|salgo)`, `por poco`, `a punto de`, `(?:(?:ano|mes|semana|verano) que viene|proxim[oa] (?:ano|mes|semana|verano)|tal vez|quizas?|seguramente|a lo mejor) (?:\w+ ){0,2}(?:me|lo|cancel\w+|dej\w+|salg\w+|yo)`, `(?:pense|pensaba|pensando) en (?:\w+r|\w+rme)`,
	`me (?:habria|hubiera) ido`, `me iria`, `algun dia`, `ya vere(?:mos)?`, `no se si`, `numero (?:viejo|anterior|antiguo|de antes)`, `(?:viejo|antiguo) numero`, `(?:y|,|mejor) usen (?:este|esta|el nuevo)`, `nuevo numero es`,
	`(?:^|,|pero|y|no me rindo ,) ?(?:sigan|siga|sigueme|siganme|continuen)`, `pero (?:yo no|yo sigo|yo me quedo|sigo|me quedo|aqui sigo)`, `aqui sigo`, `por (?:ahora|el momento) (?:me|no|sigo|esta|estoy)`, `no me (?:rindo|voy|salgo|retiro)`, `no se preocupen`, //nolint:misspell // other languages
	`(?:,|y|por favor|lunes) (?:vuelvan|vuelve) a (?:mandar|escribir|enviar)\w*`, `^vuelvan a (?:mandar|escribir|enviar)\w*`,
	`no (?:quiero |me |nos |voy a |pienso |se )*(?:den de|des de|dar de|darme|borren|borres|borrarme|saquen|saques|salir|salirme|quiten|eliminen|cancelar|dejen de|dejes de|paren|pares|dejen en paz)`,
	`por que (?:ya )?(?:no|dejaron|pararon)`, `(?:el|ella) (?:quiere|dijo|dice|grito)`,

	`si (?:je|jai|la|le|les|cest pareil|ma|mon|on|un|une|rien|dans)`, `(?:quand|lorsque|des que|une fois que|tant que) (?:jaurai|je|jai|ce sera|le programme)`, `pas avant`,
	`(?:ma|mon|une|un|la|le) `+personFr+`(?: \w+)? (?:veut|voulait|dit|ma dit|crie|ecrit|demande|quitte|pense|trouve|sest|a dit|a crie|a ecrit|a quitte)`, `(?:voila )?ce que jai (?:dit|crie)`, `jai dit a(?:u|ux)?`,
	`failli`, `jai presque`, `peut etre (?:que )?(?:je|jarrete\w*)`, `(?:je|jarrete\w*) (?:\w+ ){0,3}peut etre`, `(?:lannee|lan|le mois|la semaine|lete) prochaine? (?:je|jarrete\w*)`, `(?:desinscrirai|desabonnerai|arreterai|quitterai)`, `jhesite`, `(?:pense|pensais|songe) a (?:me |m)?\w+r`, `jaurais (?:arrete|quitte|abandonne|lache)`, `je serais parti\w*`, `on verra`, //nolint:misspell // other languages
	`ancien(?:ne)? (?:numero|num|tel\w*|portable|ligne)`, `gardez (?:celui ci|celui la|ce numero)`, `nouveau numero est`, `utilisez (?:celui|ce|le nouveau)`,
	`(?:mais|et) (?:moi )?(?:je )?(?:reste|continue)`, `moi (?:je reste|non)`, `(?:^|,|mais|et) ?continuez`, `^continue`, `je ne lache rien`, `pour (?:linstant|le moment) (?:jaime|ca|je|cest)`, `(?:remettez|recommencez)\w*`, `(?:envoyez|envoie|ecrivez|ecris) moi plus (?:de|souvent|dautres)`,
	`(?:narretez|narrete|ne cessez|ne (?:me|nous) (?:desinscri\w+|retir\w+|supprim\w+|desabonn\w+|laiss\w+|sort\w+)|ne (?:menlevez|meffacez))(?: \w+)? (?:pas|jamais)`,
	`(?:veux|vais|voulais|souhaite|voudrais) pas (?:\w+ ){0,2}(?:quitter|arreter|desinscrire|desabonner|sortir|partir|annuler|resilier)`, `je (?:pars|quitte|marrete) pas`,
	`pourquoi (?:vous|tu) ne`, `(?:il|elle) (?:veut|voulait|dit|a dit|ma dit|a crie)`,

	`se (?:eu|a|o|nao (?:responder|der|funcionar|melhorar|fosse\w*)|semana|meu|minha|tudo|for|fosse|algum)`, `(?:quando|assim que|depois que|caso|ate) (?:eu )?(?:chegar|terminar|acabar|atingir|completar|tiver|fizer|quiser|puder|passar|o programa)`, `antes nao`,
	`(?:minha|meu|uma|um|a|o) `+personPt+`(?: \w+)? (?:quer|queria|disse|falou|gritou|escreveu|acha|pediu|saiu|cancelou|desistiu|pensa|mandou)`, `(?:falei|disse|gritei) (?:pro|pra|para|ao)`,
	`quase (?:cancel\w+|sai|desist\w+|me|pedi|larg\w+)`, `(?:talvez|provavelmente|(?:ano|mes|semana|verao) que vem|proxim[oa] (?:ano|mes|semana|verao)) (?:\w+ )?(?:eu|devo|vou|cancel\w+|sai\w+|desist\w+|par[eo])`, `(?:pensei|penso|pensando|pensava) em \w+r`, `devo (?:cancelar|sair|desistir)`, `eu ja tinha (?:saido|desistido|ido|cancelado)`, `teria (?:saido|cancelado|desistido)`, `ainda nao (?:sei|decidi)`,
	`numero (?:antigo|velho|anterior)`, `antigo numero`, `(?:e|,) usem (?:este|esse|o novo)`, `novo numero e`,
	`(?:podem|pode|,|e|mas) (?:continuar|continuem)`, `^continuem`, `mas (?:eu )?(?:fico|continuo|sigo|nao eu|eu nao)`, `eu fico`, `sigo aqui`, `por enquanto (?:gosto|to|estou|fico|nao)`, `(?:,|e) (?:voltem|volta) a (?:mandar|escrever|enviar)`, `nao (?:desisto|vou embora)`,
	`nao (?:quero |me |vou |pretendo |nos |queria )*(?:sair|cancelar|tirem|removam|excluam|apaguem|parem|cancelem|deixem de|descadastrem|desistir|larguem)`,
	`por ?que (?:voces |vcs )?(?:par\w+|deixaram)`,
	`(?:out of|aus (?:dem|der|meinem|meiner)|del|de la|du|do|da) (?:my |the )?(?:contract|lease|gym|vertrag|verein|fitness\w*|gimnasio|contrato|contrat|academia)`,
	`(?:links?|enlaces?|liens?|emojis?|gifs?|fotos?|photos?|videos?|rezepten?|recetas?|recettes?|receitas?|recipes?|witze|jokes|vouvoyer|tutoyer|siezen|duzen)`,
	`(?:which|what|welche[sr]?|que|quel|quelle|qual) (?:number|word|nummer|wort|numero|palabra|mot|palavra)`,
	// Other senders, what is done already, a day, an event, another place.
	`(?:`+sentEn+`|`+sentDe+`|`+sentEs+`|`+sentFr+`|`+sentPt+`) (?:mehr |mas |mais )?(?:from|von|de|del|do|da) (?:my |the |meine\w |der |dem |mi |mon |ma |la |meu |minha )?(?:`+personEn+`|`+personDe+`|`+personEs+`|`+personFr+`|`+personPt+`|bank|banco|banque|landlord|vermieter|casero|proprio|senhorio|shop|store|school|schule|escuela|ecole|escola)`,
	`i (?:just |finally |also )?(?:cancell?ed|unsubscribed|deleted) `, `me (?:di de baja|sali|descadastrei|desinscrevi|borre) (?:de|del|do|da|das|dos)`, `(?:cancelei|apaguei)`, `je me suis (?:desabonn|desinscri|retir)\w*`, `jai (?:resilie|annule|supprime|quitte)`,
	`(?:habe?|bin) (?:\w+ ){0,5}(?:gekundigt|abbestellt|abgemeldet|geloscht|storniert|ausgetreten)`,
	`my (?:phone )?(?:company|carrier|provider)`, `mein anbieter`, `la compania`, `mon operateur`, `a operadora`, `(?:asks?|asked|fragt|pregunta|demande|pergunta) (?:how|wie|como|comment)`, `sie (?:sagte|meinte|rief|schrie)`, `(?:ele|ela) (?:disse|falou|gritou|quer)`,
	`for (?:today|tonight|now)`, `(?:fur|por|pour) (?:heute|hoy|aujourdhui|hoje)`, `(?:mon|tues|wednes|thurs|fri|satur|sun)days`, `weekends?`, `wochenenden?`, `(?:mon|diens|donners|frei|sams|sonn)tags`, `mittwochs`, `(?:los|aos|nos) (?:lunes|martes|miercoles|jueves|viernes|sabados|domingos|fines de semana|fins de semana)`, `le (?:lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|week ?end)`,
	`and (?:put|move|switch|change) (?:me|it)`, `und (?:steckt|setzt|packt) (?:mich|sie|es)`, `ponganme|poneme|ponme`, `et mettez (?:moi|le|la)`, `e me (?:coloquem|ponham|coloca|poe)`,
	`after (?:the|my) (?:\w+ ){1,5}(?:ill|i)`, `nach (?:dem|der|meine\w) (?:\w+ ){1,5}(?:steige?|hore?|melde?|kundige?|mache?) ich`, `despues de (?:la|el|mi) (?:\w+ ){1,5}(?:dejo|me|salgo|cancelo)`, `apres (?:la|le|mon|ma) (?:\w+ ){1,5}(?:je|jarrete)`, `depois d[aoe] (?:\w+ ){1,5}(?:eu|saio|cancelo|paro|largo)`,
	`(?:meldet?|tragt?|nehmt|nimm|streicht?|loscht?|werft|entfernt?) (?:mich|meine nummer) (?:\w+ )?nicht`, `but not (?:you|this)`, `(?:aber|und) (?:euch|bei euch) (?:behalt\w*|bleib\w*)`, `pero a ustedes`, `mais (?:pas vous|vous je)`, `mas voces (?:eu )?(?:nao|fico)`, `bei euch bleib\w*`,
	`(?:missed|verpasst|perdi|rate) (?:the|die|das|los|las|os|as|les|vos|eure|seus|sus|your|it)`,
)

// pleas are conditions that are none, and words that stand in unplain's for another sense:
// they are left out before it reads.
var pleas = compileAny(
	`auf zu (?:schreiben|schicken|senden|nerven|texten|simsen|storen|belastigen|kontaktieren)`, `if i (?:could|can|may)`, `wenn ich bitten darf`, `si je peux me permettre`, `if (?:its|it is)(?: not)? (?:possible|ok|okay|too much)`, `if (?:i|ive) (?:get|hear|see) (?:one|another)(?: \w+)*`, `(?:once|until) (?:and for all|now)`, `wenn (?:es|das) (?:geht|moglich ist)`, `si cest possible`, `se (?:for )?possivel`,
	`mochte ich (?:\w+ )?nicht`, `no (?:me |se |nos |les )*(?:sigan|vuelvan) (?:\w+ ){0,2}\w+`, `nao (?:me )?(?:continuem|voltem) \w+`,
)

// named finds the beginnings of words for what shall end, or for ending it.
var named = regexp.MustCompile(`(?:^| )(?:messag|mensa|nachricht|text|txt|sms|ms[gj]|erinner|remind|record|rappel|lembret|numer|nummer|list|verteil|program|servi|dienst|coach|abo |subscri|suscri|inscri|assinat|particip|teiln|konto|account|compte|cuenta|conta|kundig|abmeld|austr|cancel|resili|de[sz]in?scri|desabon|descadast|unsub|baja|kontakt|schreib|schick|ec?scri|escrev|mecri|mand|envi|envoi|envoy|sen[dt]|phone|telef|telem|handy|celular|anmeld|numb|desuscri|mess?a[gj]|letzt|last|final|ultim|derni|lass|laiss|dej|deix|leav)`)

// namesEnd reports whether a text without a question names what shall end.
func namesEnd(body string) bool {
	clauses := joinClauses(body)
	first, _, _ := strings.Cut(clauses, " ")
	for _, of := range doubtsOf {
		if of.questions[first] {
			return false
		}
	}
	return named.MatchString(clauses) && !strings.ContainsAny(body, "?¿")
}

// stillSent finds that messages come though the person has asked before: what they did is
// no report then.
var stillSent = compileAny(`still`, `immer noch|trotzdem|weiterhin`, `siguen|todavia|sigo recibiendo`, `encore|toujours`, `continua\w*|ainda`, `already|schon|ya|deja|ja`)

// pastDeeds finds a deed that is done, by the accent that splitWords takes away.
var pastDeeds = regexp.MustCompile(`(?i)(?:^|[^\pL])(?:cancel|borr|termin|elimin|quit|dej|anul|apagu)é(?:[^\pL]|$)`)

// isPlain reports whether a text has nothing that makes a request none, or another's.
func isPlain(body string) bool {
	clauses := joinClauses(body)
	if quotation.MatchString(body) || pastDeeds.MatchString(body) && !stillSent.MatchString(clauses) {
		return false
	}
	return !unplain.MatchString(pleas.ReplaceAllString(clauses, " "))
}

// joinClauses returns the words of a text, with a comma between clauses.
func joinClauses(body string) string {
	var all []string
	for _, clause := range strings.FieldsFunc(body, func(r rune) bool {
		return strings.ContainsRune(",;:.!?…\n()«»\"“”„", r) || unicode.Is(unicode.So, r)
	}) {
		if words := splitWords(clause); len(words) > 0 {
			all = append(all, strings.Join(words, " "))
		}
	}
	return strings.Join(all, " , ")
}

// quotation is a passage in quotation marks of several words.
var quotation = regexp.MustCompile(`["“„«][^"“”„«»]+ [^"“”„«»]+["”“»]`)
